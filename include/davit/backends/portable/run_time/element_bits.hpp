// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/backends/portable/run_time/result_type.hpp"

namespace davit::portable_kernels {

/// The bits of an element that is only moved or tested: one kernel serves all types of a width.
template <class Bits>
struct [[gnu::may_alias]] ElementBits {
  Bits bits;
};

/// The bit to ignore in a comparison of an element with zero: a float's sign.
[[nodiscard]] constexpr std::uint64_t sign_bit(ScalarType type) noexcept {
  return is_floating(type) ? std::uint64_t{1} << (8 * size_of(type) - 1) : 0;
}

/// One element on the stack, viewed as a tensor of any sizes.
class ScalarTensor {
 public:
  /// Takes the first element of `from`, converted.
  [[nodiscard]] ErrorCode set(ScalarType type, const TensorView& from) noexcept {
    type_ = type;
    const kernels::Conversion conversion = kernels::Conversion::between(from.dtype, type);
    if (!conversion.ok) return ErrorCode::invalid_dtype;
    std::uint64_t scratch = 0;
    if (conversion.count == 0) std::memcpy(&bits_, from.data, conversion.element);
    conversion.run(from.data, &bits_, &scratch, 1);
    return ErrorCode::ok;
  }
  /// Views the element as a tensor of these sizes; `sizes` and this object must outlive the view.
  [[nodiscard]] TensorView view(std::span<const std::int64_t> sizes) noexcept {
    return {&bits_, sizes.data(), no_strides.data(), static_cast<std::uint8_t>(sizes.size()), type_};
  }

 private:
  static constexpr std::array<std::int64_t, max_rank> no_strides{};
  std::uint64_t bits_ = 0;
  ScalarType type_ = ScalarType::undefined;
};

}  // namespace davit::portable_kernels
