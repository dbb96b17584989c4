// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/backends/portable/result_type.hpp"

namespace davit::portable_kernels {

/// An element that is only moved or tested, as its bits: one kernel for all types of a width.
template <class Bits>
struct [[gnu::may_alias]] Word {
  Bits bits;

  /// Whether the element is not zero; `sign` is `sign_of` its type.
  [[nodiscard]] constexpr bool is_true(std::uint64_t sign) const noexcept { return (bits & ~sign) != 0; }
};

/// Calls `f.template operator()<W>()` with the Word that holds an element of a real type, else answers invalid_dtype.
template <class F>
[[nodiscard]] ErrorCode dispatch_word(ScalarType type, F&& f) {
  if (is_complex(type) || (is_floating(type) && size_of(type) == 1)) return ErrorCode::invalid_dtype;
  switch (size_of(type)) {
    case 1: return f.template operator()<Word<std::uint8_t>>();
    case 2: return f.template operator()<Word<std::uint16_t>>();
    case 4: return f.template operator()<Word<std::uint32_t>>();
    case 8: return f.template operator()<Word<std::uint64_t>>();
    default: return ErrorCode::invalid_dtype;
  }
}

/// The bit that does not count when an element is compared to zero: a float's sign.
[[nodiscard]] constexpr std::uint64_t sign_of(ScalarType type) noexcept {
  return is_floating(type) ? std::uint64_t{1} << (8 * size_of(type) - 1) : 0;
}

/// One element on the stack, seen as a tensor of any sizes.
class Cell {
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
  /// The element in every place of a tensor of these sizes; they and the cell must outlive it.
  [[nodiscard]] TensorView view(std::span<const std::int64_t> sizes) noexcept {
    return {&bits_, sizes.data(), no_strides.data(), static_cast<std::uint8_t>(sizes.size()), type_};
  }

 private:
  static constexpr std::array<std::int64_t, max_rank> no_strides{};
  std::uint64_t bits_ = 0;
  ScalarType type_ = ScalarType::undefined;
};

}  // namespace davit::portable_kernels
