// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"

namespace davit::portable_kernels {

/// Returns the number of elements, or -1 if it exceeds `max_numel` (a caller's tensor can claim any size). O(rank).
[[nodiscard, gnu::noinline]] constexpr std::int64_t checked_numel(const TensorView& t) noexcept {
  return davit::checked_numel(t.sizes(), max_numel);
}

/// The type-independent part of `ComputeBuffers`: the operands, results and work space of one kernel as contiguous
/// arrays of its compute type.
class ComputeBuffersBase {
 public:
  using Id = std::size_t;
  static constexpr std::size_t capacity = 16;

  /// Registers an operand to read.
  [[gnu::noinline]] Id read(const TensorView& t) noexcept { return add(Role::operand, t, checked_numel(t)); }
  /// Registers an operand to read through `strides(id)`: used in place in any layout.
  [[gnu::noinline]] Id read_strided(const TensorView& t) noexcept { return add(Role::strided, t, checked_numel(t)); }
  /// Registers a result: output `i`, made by `make` before.
  [[gnu::noinline]] Id write(std::size_t i) noexcept {
    const TensorView& t = call_->output(i);
    return add(Role::result, t, t.numel());
  }
  /// Registers uninitialized work space for the product of these counts.
  [[gnu::noinline]] Id buffer(std::initializer_list<std::int64_t> counts) noexcept {
    return add(Role::buffer, {}, davit::checked_numel({counts.begin(), counts.size()}, max_numel));
  }
  Id buffer(std::int64_t count) noexcept { return buffer({count}); }

  /// Allocates the memory and copies operands in. Errors: out_of_memory, invalid_dtype.
  [[nodiscard, gnu::noinline]] ErrorCode allocate() {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < used_; ++i) {
      if (items_[i].count < 0 || items_[i].count > max_numel)
        return call_->refuse(ErrorCode::out_of_memory, "an operand or its work space is too large");
      if (needs_copy(items_[i])) bytes += rounded(items_[i].count);
    }
    if (bytes == 0) return ErrorCode::ok;
    std::byte* memory = bytes < SIZE_MAX ? call_->temporary<std::byte>(static_cast<std::size_t>(bytes)) : nullptr;
    if (memory == nullptr) return call_->refuse(ErrorCode::out_of_memory, "no memory for a kernel's work space");
    for (std::size_t i = 0; i < used_; ++i) {
      Item& item = items_[i];
      if (!needs_copy(item)) continue;
      item.data = memory;
      memory += static_cast<std::size_t>(rounded(item.count));
      if (item.role != Role::operand && item.role != Role::strided) continue;
      if (!is_computable(item.tensor.dtype)) return refuse_dtype();
      (void)convert_elements(item.tensor, type_, item.data);
    }
    return ErrorCode::ok;
  }

  /// Returns the strides of an operand at `in(id)`.
  [[nodiscard, gnu::noinline]] Sizes strides(Id id) const noexcept {
    const TensorView& t = items_[id].tensor;
    if (!needs_copy(items_[id])) return strides_of(t);
    Sizes result(t.sizes());
    contiguous_strides(t.sizes(), {result.values.data(), result.rank});
    return result;
  }

  /// Converts results that are not outputs in place into their outputs.
  [[nodiscard, gnu::noinline]] ErrorCode finish() {
    for (std::size_t i = 0; i < used_; ++i) {
      const Item& item = items_[i];
      if (item.role != Role::result || !needs_copy(item)) continue;
      if (!is_computable(item.tensor.dtype)) return refuse_dtype();
      const std::int64_t one = 1;
      (void)kernels::convert_elements({&item.count, 1}, item.data, type_, {&one, 1}, item.tensor.data,
                                      item.tensor.dtype, {&one, 1});
    }
    return ErrorCode::ok;
  }

 protected:
  /// Integers are computed in int64 or uint64.
  ComputeBuffersBase(KernelCall& call, ScalarType type) noexcept
      : call_(&call), type_(type == ScalarType::uint64 ? ScalarType::int64 : type), has_uint64_(type != type_) {}
  [[nodiscard]] void* data(Id id) const noexcept { return items_[id].data; }
  [[nodiscard]] std::int64_t units(std::int64_t count, std::size_t bytes) const noexcept {
    return count > max_numel ? -1 : count * static_cast<std::int64_t>((bytes + size_of(type_) - 1) / size_of(type_));
  }

 private:
  enum class Role : std::uint8_t { operand, strided, result, buffer };
  struct Item {
    TensorView tensor;
    void* data = nullptr;
    std::int64_t count = 0;
    Role role = Role::buffer;
  };

  [[nodiscard]] static bool is_computable(ScalarType type) noexcept {
    return kernels::compute_of(type) != kernels::Compute::none;
  }
  [[nodiscard]] ErrorCode refuse_dtype() {
    return call_->refuse(ErrorCode::invalid_dtype, "complex and quantized elements are not supported");
  }
  [[nodiscard]] bool needs_copy(const Item& item) const noexcept {
    if (item.role == Role::buffer) return true;
    if (item.count == 0) return false;
    const bool stored = item.tensor.dtype == type_ || (has_uint64_ && item.tensor.dtype == ScalarType::uint64);
    return !stored || (item.role == Role::operand && !item.tensor.is_contiguous());
  }
  [[nodiscard]] std::uint64_t rounded(std::int64_t count) const noexcept {
    return (static_cast<std::uint64_t>(count) * size_of(type_) + 63) / 64 * 64;
  }
  Id add(Role role, const TensorView& t, std::int64_t count) noexcept {
    items_[used_] = {t, t.data, count, role};
    return used_++;
  }

  KernelCall* call_;
  ScalarType type_;
  bool has_uint64_;
  std::array<Item, capacity> items_{};
  std::size_t used_ = 0;
};

/// The operands, results and work space of one kernel as contiguous arrays of its compute type `C`.
///
/// A contiguous tensor of type C is used in place; any other dtype or layout is copied in and, for results, out again
/// with one rounding. Register everything, call `allocate`, compute, call `finish`. One per kernel call: it takes the
/// call's temporary memory.
template <class C>
class ComputeBuffers : public ComputeBuffersBase {
 public:
  explicit ComputeBuffers(KernelCall& call) noexcept : ComputeBuffersBase(call, scalar_type_of<C>) {}

  /// Registers uninitialized work space for `count` objects of a trivial type `T`, at `at<T>(id)`.
  template <class T>
  Id buffer_of(std::int64_t count) noexcept {
    return buffer(units(count, sizeof(T)));
  }
  [[nodiscard]] const C* in(Id id) const noexcept { return static_cast<const C*>(data(id)); }
  [[nodiscard]] C* out(Id id) const noexcept { return static_cast<C*>(data(id)); }
  template <class T>
  [[nodiscard]] T* at(Id id) const noexcept {
    return static_cast<T*>(data(id));
  }
};

/// Calls `f.template operator()<C>()` with the compute type of kernels on floating-point tensors of `type`: float for
/// float32, float16 and bfloat16, double for float64; returns invalid_dtype for others.
template <class F>
[[nodiscard]] ErrorCode dispatch_floating(KernelCall& call, ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::float32:
    case ScalarType::float16:
    case ScalarType::bfloat16: return f.template operator()<float>();
    case ScalarType::float64: return f.template operator()<double>();
    default: return call.refuse(ErrorCode::invalid_dtype, "the operator takes floating-point tensors only");
  }
}

/// Calls `f.template operator()<C>()` with the compute type of sums of products of `type`: as dispatch_floating, and
/// integers modulo 2^64. Source: the dtypes of at::addmm on the CPU.
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
