// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "davit/c/detail/failure.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/next_index.hpp"
#include "davit/core/tensor.hpp"

namespace davit::c_api {

/// Types of handles, in the low two bits of a handle.
enum class HandleType : std::uintptr_t { program = 1, session = 2, error = 3 };

/// The live objects of one handle type.
///
/// A handle is a number, not an address, and none is given twice: a handle that was freed, is of another type or was
/// never made is found out without a look at memory. An object that is in use in one thread and freed in another ends
/// with the use. Each call O(log handles). Out of memory: std::bad_alloc.
template <class Object, class Handle, HandleType type>
class Handles {
 public:
  /// The only table. It is never destroyed, so that handles may be freed while the process exits.
  [[nodiscard]] static Handles& table() noexcept {
    alignas(Handles) static std::byte memory[sizeof(Handles)];
    static auto* const made = new (memory) Handles();
    return *made;
  }

  [[nodiscard]] Handle* add(std::shared_ptr<Object> object) {
    const std::scoped_lock lock(mutex_);
    const std::uintptr_t id = next_ << 2 | static_cast<std::uintptr_t>(type);
    objects_.emplace(id, std::move(object));
    ++next_;
    return reinterpret_cast<Handle*>(id);
  }
  /// Returns the object, or null if the handle is none of this table.
  [[nodiscard]] std::shared_ptr<Object> find(const Handle* handle) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return at == objects_.end() ? nullptr : at->second;
  }
  /// Ends a handle. Returns its object, or null.
  std::shared_ptr<Object> remove(const Handle* handle) noexcept {
    const std::scoped_lock lock(mutex_);
    auto node = objects_.extract(reinterpret_cast<std::uintptr_t>(handle));
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<Object>> objects_;
  std::uintptr_t next_ = 0x100;  // handles below 0x400 are no objects: see last_resort in davit.cpp
};

struct DtypeRow {
  ScalarType type;
  std::uint8_t code;  ///< DLPack's
};
inline constexpr std::array<DtypeRow, 21> dtype_rows{{
    {ScalarType::uint8, DAVIT_DTYPE_UINT},
    {ScalarType::int8, DAVIT_DTYPE_INT},
    {ScalarType::int16, DAVIT_DTYPE_INT},
    {ScalarType::int32, DAVIT_DTYPE_INT},
    {ScalarType::int64, DAVIT_DTYPE_INT},
    {ScalarType::float16, DAVIT_DTYPE_FLOAT},
    {ScalarType::float32, DAVIT_DTYPE_FLOAT},
    {ScalarType::float64, DAVIT_DTYPE_FLOAT},
    {ScalarType::complex32, DAVIT_DTYPE_COMPLEX},
    {ScalarType::complex64, DAVIT_DTYPE_COMPLEX},
    {ScalarType::complex128, DAVIT_DTYPE_COMPLEX},
    {ScalarType::bool_, DAVIT_DTYPE_BOOL},
    {ScalarType::bfloat16, DAVIT_DTYPE_BFLOAT},
    {ScalarType::float8_e5m2, DAVIT_DTYPE_FLOAT8_E5M2},
    {ScalarType::float8_e4m3fn, DAVIT_DTYPE_FLOAT8_E4M3FN},
    {ScalarType::float8_e5m2fnuz, DAVIT_DTYPE_FLOAT8_E5M2FNUZ},
    {ScalarType::float8_e4m3fnuz, DAVIT_DTYPE_FLOAT8_E4M3FNUZ},
    {ScalarType::uint16, DAVIT_DTYPE_UINT},
    {ScalarType::uint32, DAVIT_DTYPE_UINT},
    {ScalarType::uint64, DAVIT_DTYPE_UINT},
    {ScalarType::float8_e8m0fnu, DAVIT_DTYPE_FLOAT8_E8M0FNU},
}};

/// Converts a scalar type to DLPack's form; all zeros for `undefined`.
[[nodiscard]] constexpr davit_dtype dtype_of(ScalarType type) noexcept {
  for (const DtypeRow& row : dtype_rows)
    if (row.type == type) return {row.code, static_cast<std::uint8_t>(8 * size_of(type)), 1};
  return {};
}
/// Returns the scalar type of a dtype in DLPack's form; `undefined` if there is none.
[[nodiscard]] constexpr ScalarType scalar_type_of_dtype(davit_dtype dtype) noexcept {
  for (const DtypeRow& row : dtype_rows)
    if (row.code == dtype.code && 8 * size_of(row.type) == dtype.bits && dtype.lanes == 1) return row.type;
  return ScalarType::undefined;
}

/// True if each element is 0 or 1. The tensor's dtype must be bool. O(elements).
[[nodiscard]] inline bool are_bools(const TensorView& tensor) noexcept {
  if (tensor.numel() == 0) return true;
  const auto* at = tensor.as<std::uint8_t>();
  std::array<std::int64_t, max_rank> index{};
  do
    if (*at > 1) return false;
  while (next_index(tensor.rank, index, tensor.sizes(),
                    [&](std::size_t d, std::ptrdiff_t steps) { at += steps * tensor.stride(d); }));
  return true;
}

/// Reads a tensor of a C or Python caller. `strides` receives row-major strides if it has none, and must outlive the
/// view. Errors: invalid_dtype; invalid_shape for rank, sizes or strides that no memory has; invalid_argument for a
/// pointer that is NULL or not aligned, and for bools that are neither 0 nor 1. O(rank), for bools O(elements).
[[nodiscard]] inline Result<TensorView> read_tensor(const davit_tensor& from, std::span<std::int64_t> strides,
                                                    std::string_view where) {
  const ScalarType dtype = scalar_type_of_dtype(from.dtype);
  if (dtype == ScalarType::undefined)
    return refuse(ErrorCode::invalid_dtype, where,
                  concat("no dtype has DLPack code ", int{from.dtype.code}, ", ", int{from.dtype.bits}, " bits and ",
                         int{from.dtype.lanes}, " lanes"),
                  "pass for float32 the code 2, 32 bits and 1 lane");
  if (from.rank < 0 || from.rank > static_cast<std::int32_t>(max_rank))
    return refuse(ErrorCode::invalid_shape, where, concat("the rank is ", from.rank),
                  concat("pass a rank from 0 to ", max_rank));
  const auto rank = static_cast<std::size_t>(from.rank);
  if (rank != 0 && from.sizes == nullptr)
    return refuse(ErrorCode::invalid_argument, where, "sizes is NULL", "pass as many sizes as the rank says");
  const std::span<const std::int64_t> sizes(from.sizes, rank);
  if (checked_numel(sizes) < 0)
    return refuse(ErrorCode::invalid_shape, where, "a size is negative, or no memory can hold the tensor",
                  "pass sizes from 0 on");
  if (from.strides == nullptr) contiguous_strides(sizes, strides);
  const std::int64_t* const steps = from.strides == nullptr ? strides.data() : from.strides;
  const std::int64_t extent = storage_extent(sizes, {steps, rank}, 0, size_of(dtype));
  if (extent < 0)
    return refuse(ErrorCode::invalid_shape, where, "a stride is negative, or no memory can hold the tensor",
                  "pass strides in elements, or NULL for row-major elements");
  if (extent > 0 && from.data == nullptr)
    return refuse(ErrorCode::invalid_argument, where, "data is NULL", "pass the address of the first element");
  const std::size_t alignment = std::min<std::size_t>(size_of(dtype), 8);
  if (reinterpret_cast<std::uintptr_t>(from.data) % alignment != 0)
    return refuse(ErrorCode::invalid_argument, where, "data is not aligned",
                  concat("pass an address that is a multiple of ", alignment));
  const TensorView view{from.data, from.sizes, steps, static_cast<std::uint8_t>(rank), dtype};
  if (dtype == ScalarType::bool_ && !are_bools(view))
    return refuse(ErrorCode::invalid_argument, where, "an element of a bool tensor is neither 0 nor 1",
                  "pass 0 for false and 1 for true");
  return view;
}

/// Reads a value of a C caller, which must outlive the result. Errors: as read_tensor; invalid_argument for an unknown
/// kind, and for text at NULL.
[[nodiscard]] inline Expected<EValue> read_value(const davit_value& from, std::span<std::int64_t> strides,
                                                 std::string_view where) {
  switch (from.kind) {
    case DAVIT_NONE: return EValue();
    case DAVIT_TENSOR: {
      Result<TensorView> view = read_tensor(from.as.tensor, strides, where);
      if (!view) return error_of(std::move(view));
      return EValue(*view);
    }
    case DAVIT_INT: return EValue(from.as.integer);
    case DAVIT_FLOAT: return EValue(from.as.number);
    case DAVIT_BOOL: return EValue(from.as.boolean != 0);
    case DAVIT_STRING:
      if (from.as.string.data == nullptr && from.as.string.size != 0)
        return refuse(ErrorCode::invalid_argument, where, "the text is NULL", "pass its first byte");
      return EValue(std::string_view(from.as.string.data, from.as.string.size));
    default:
      return refuse(ErrorCode::invalid_argument, where, concat("there is no kind ", from.kind),
                    "pass a kind from DAVIT_NONE (0) to DAVIT_STRING (5)");
  }
}

/// Returns the kind of a value; -1 for a list, which has none.
[[nodiscard]] constexpr std::int32_t kind_of(EValue::Tag tag) noexcept {
  switch (tag) {
    case EValue::Tag::none: return DAVIT_NONE;
    case EValue::Tag::tensor: return DAVIT_TENSOR;
    case EValue::Tag::int_: return DAVIT_INT;
    case EValue::Tag::float_: return DAVIT_FLOAT;
    case EValue::Tag::bool_: return DAVIT_BOOL;
    case EValue::Tag::string: return DAVIT_STRING;
    case EValue::Tag::list: break;
  }
  return -1;
}

/// Writes a value for a C caller: a view of `value`. Errors: unsupported_argument for a list.
[[nodiscard]] inline Expected<davit_value> write_value(const EValue& value, std::string_view where) {
  davit_value to{};
  to.kind = kind_of(value.tag());
  switch (value.tag()) {
    case EValue::Tag::none: break;
    case EValue::Tag::tensor: {
      const TensorView& view = value.tensor();
      to.as.tensor = {view.data, dtype_of(view.dtype), view.rank, view.sizes_data, view.strides_data};
      break;
    }
    case EValue::Tag::int_: to.as.integer = value.as_int(); break;
    case EValue::Tag::float_: to.as.number = value.as_float(); break;
    case EValue::Tag::bool_: to.as.boolean = value.as_bool() ? 1 : 0; break;
    case EValue::Tag::string: to.as.string = {value.as_string().data(), value.as_string().size()}; break;
    case EValue::Tag::list:
      return refuse(ErrorCode::unsupported_argument, where, "the output is a list, which the C API does not have",
                    "return its elements from forward() one by one");
  }
  return to;
}

}  // namespace davit::c_api
