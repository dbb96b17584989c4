// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/dispatch.hpp"
#include "davit/backends/portable/kernel_call.hpp"

namespace davit::portable_kernels {

/// The number of elements, or -1 if it is more than `max_numel` (an expanded tensor can claim any size). O(rank).
[[nodiscard]] constexpr std::int64_t checked_numel(const TensorView& t) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t size : t.sizes()) {
    if (size == 0) return 0;
    if (count > max_numel / size) count = max_numel + 1;
    if (count <= max_numel) count *= size;
  }
  return count <= max_numel ? count : -1;
}

/// True if memory of `type` can be read as an array of `C`: the same type, or int64 as its unsigned counterpart.
template <class C>
[[nodiscard]] constexpr bool stored_as(ScalarType type) noexcept {
  if constexpr (std::is_same_v<C, std::uint64_t>) return type == ScalarType::int64 || type == ScalarType::uint64;
  return type == scalar_type_of<C>;
}

/// Writes the elements of `t`, converted to `C`, in row-major order. O(numel).
template <class C>
[[nodiscard]] ErrorCode load_contiguous(const TensorView& t, C* to) {
  return dispatch_all(t.dtype, [&]<class T>() {
    const T* from = t.as<T>();
    for_each_index(t.sizes(), std::array{strides_of(t)},
                   [&](std::int64_t i) { *to++ = convert<C>(from[i]); });
    return ErrorCode::ok;
  });
}

/// Writes `numel` converted elements into the contiguous tensor `t`. O(numel).
template <class C>
[[nodiscard]] ErrorCode store_contiguous(const C* from, const TensorView& t) {
  return dispatch_all(t.dtype, [&]<class T>() {
    T* to = t.as<T>();
    const std::int64_t count = t.numel();
    for (std::int64_t i = 0; i < count; ++i) to[i] = convert<T>(from[i]);
    return ErrorCode::ok;
  });
}

/// The operands, results and work space of one kernel as contiguous arrays of the type `C` it computes in.
///
/// A tensor that already is such an array is used in place; any other dtype or layout is copied in and, for results,
/// out again with one rounding. Register everything, call `allocate`, compute, call `finish`. One per kernel call: it
/// takes the call's temporary memory.
template <class C>
class Staging {
 public:
  using Id = std::size_t;
  static constexpr std::size_t capacity = 16;

  explicit Staging(KernelCall& call) noexcept : call_(&call) {}

  /// An operand to read.
  Id read(const TensorView& t) noexcept { return add({t, t.as<C>(), checked_numel(t), Role::operand}); }
  /// An operand to read through `strides(id)`: used in place whatever its layout.
  Id read_strided(const TensorView& t) noexcept { return add({t, t.as<C>(), checked_numel(t), Role::strided}); }
  /// A result: output `i`, which `make` has made.
  Id write(std::size_t i) noexcept {
    const TensorView& t = call_->output(i);
    return add({t, t.as<C>(), t.numel(), Role::result});
  }
  /// Uninitialised work space.
  Id buffer(std::int64_t count) noexcept { return add({{}, nullptr, count, Role::buffer}); }
  /// Uninitialised work space for `count` objects of a trivial type `T`, at `at<T>(id)`.
  template <class T>
  Id buffer_of(std::int64_t count) noexcept {
    constexpr auto units = static_cast<std::int64_t>((sizeof(T) + sizeof(C) - 1) / sizeof(C));
    return buffer(count > max_numel ? -1 : count * units);
  }

  /// Gets the memory and copies operands in. Errors: out_of_memory, invalid_dtype.
  [[nodiscard]] ErrorCode allocate() {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < used_; ++i) {
      if (items_[i].count < 0 || items_[i].count > max_numel)
        return call_->refuse(ErrorCode::out_of_memory, "an operand or its work space is too large");
      if (needs_copy(items_[i])) bytes += rounded(items_[i].count);
    }
    if (bytes == 0) return ErrorCode::ok;
    std::byte* memory = call_->temporary<std::byte>(bytes);
    if (memory == nullptr) return call_->refuse(ErrorCode::out_of_memory, "no memory for a kernel's work space");
    for (std::size_t i = 0; i < used_; ++i) {
      Item& item = items_[i];
      if (!needs_copy(item)) continue;
      item.data = reinterpret_cast<C*>(memory);
      memory += rounded(item.count);
      if (item.role != Role::operand && item.role != Role::strided) continue;
      if (load_contiguous<C>(item.tensor, item.data) != ErrorCode::ok)
        return call_->refuse(ErrorCode::invalid_dtype, "complex and quantized elements are not supported");
    }
    return ErrorCode::ok;
  }

  [[nodiscard]] const C* in(Id id) const noexcept { return items_[id].data; }
  [[nodiscard]] C* out(Id id) const noexcept { return items_[id].data; }
  template <class T>
  [[nodiscard]] T* at(Id id) const noexcept {
    return reinterpret_cast<T*>(items_[id].data);
  }
  /// The strides of an operand as it lies at `in(id)`.
  [[nodiscard]] Sizes strides(Id id) const noexcept {
    const TensorView& t = items_[id].tensor;
    if (!needs_copy(items_[id])) return strides_of(t);
    Sizes result(t.sizes());
    contiguous_strides(t.sizes(), {result.values.data(), result.rank});
    return result;
  }

  /// Converts the results that were computed aside into their outputs.
  [[nodiscard]] ErrorCode finish() {
    for (std::size_t i = 0; i < used_; ++i) {
      const Item& item = items_[i];
      if (item.role != Role::result || !needs_copy(item)) continue;
      if (store_contiguous<C>(item.data, item.tensor) != ErrorCode::ok)
        return call_->refuse(ErrorCode::invalid_dtype, "complex and quantized elements are not supported");
    }
    return ErrorCode::ok;
  }

 private:
  enum class Role : std::uint8_t { operand, strided, result, buffer };
  struct Item {
    TensorView tensor;
    C* data = nullptr;
    std::int64_t count = 0;
    Role role = Role::buffer;
  };

  [[nodiscard]] static bool needs_copy(const Item& item) noexcept {
    if (item.role == Role::buffer) return true;
    if (item.count == 0) return false;
    return !stored_as<C>(item.tensor.dtype) || (item.role == Role::operand && !item.tensor.is_contiguous());
  }
  [[nodiscard]] static std::size_t rounded(std::int64_t count) noexcept {
    return (static_cast<std::size_t>(count) * sizeof(C) + 63) / 64 * 64;
  }
  Id add(const Item& item) noexcept {
    items_[used_] = item;
    return used_++;
  }

  KernelCall* call_;
  std::array<Item, capacity> items_{};
  std::size_t used_ = 0;
};

/// Calls `f.template operator()<C>()` with the type that kernels on floating-point tensors of `type` compute in: float
/// for float32, float16 and bfloat16, double for float64; invalid_dtype for anything else.
template <class F>
[[nodiscard]] ErrorCode dispatch_staged(KernelCall& call, ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::float32:
    case ScalarType::float16:
    case ScalarType::bfloat16: return f.template operator()<float>();
    case ScalarType::float64: return f.template operator()<double>();
    default: return call.refuse(ErrorCode::invalid_dtype, "the operator takes floating-point tensors only");
  }
}

/// Calls `f.template operator()<C>()` with the type sums of products of `type` are computed in: as dispatch_staged, and
/// integers modulo 2^64.
/// Source: the dtypes of at::addmm on the CPU.
template <class F>
[[nodiscard]] ErrorCode dispatch_product(KernelCall& call, ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::float32:
    case ScalarType::float16:
    case ScalarType::bfloat16: return f.template operator()<float>();
    case ScalarType::float64: return f.template operator()<double>();
    case ScalarType::int64:
    case ScalarType::int32:
    case ScalarType::int16:
    case ScalarType::int8:
    case ScalarType::uint8: return f.template operator()<std::uint64_t>();
    default: return call.refuse(ErrorCode::invalid_dtype, "sums of products take floats and integers, not this dtype");
  }
}

}  // namespace davit::portable_kernels
