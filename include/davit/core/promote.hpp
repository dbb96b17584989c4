// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/scalar_type.hpp"

namespace davit {

/// Returns the dtype in which torch computes the result of two operands, by category and width; `undefined` yields the
/// other dtype.
/// Source: c10::promoteTypes.
[[nodiscard]] constexpr ScalarType promote(ScalarType a, ScalarType b) noexcept {
  if (a == b) return a;
  if (a == ScalarType::undefined) return b;
  if (b == ScalarType::undefined) return a;
  const auto category = [](ScalarType t) {
    return t == ScalarType::bool_ ? 0 : is_integral(t) ? 1 : is_floating(t) ? 2 : 3;
  };
  if (category(a) + category(b) == 5)
    return complex_of(promote(real_of(a), real_of(b)));  // a float and a complex number
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (is_integral(a)) {
    const auto is_unsigned = [](ScalarType t) {
      return t == ScalarType::uint8 || t == ScalarType::uint16 || t == ScalarType::uint32 || t == ScalarType::uint64;
    };
    if (is_unsigned(a) == is_unsigned(b)) return size_of(a) > size_of(b) ? a : b;
    const ScalarType u = is_unsigned(a) ? a : b;
    const ScalarType s = is_unsigned(a) ? b : a;
    if (size_of(s) > size_of(u)) return s;
    return size_of(u) == 1 ? ScalarType::int16 : size_of(u) == 2 ? ScalarType::int32 : ScalarType::int64;
  }
  if (size_of(a) == 2 && size_of(b) == 2) return ScalarType::float32;  // float16 with bfloat16
  return size_of(a) > size_of(b) ? a : b;
}

/// Promotes the dtypes of an operator's operands by priority: tensors with dimensions first, 0-dimensional tensors
/// next, plain numbers last; a lower priority counts only if its category is higher. Source: at::native::result_type.
struct PromotedType {
  ScalarType dimensioned = ScalarType::undefined;
  ScalarType zero = ScalarType::undefined;
  ScalarType number = ScalarType::undefined;
  [[nodiscard]] constexpr ScalarType get() const noexcept { return higher(dimensioned, higher(zero, number)); }

 private:
  [[nodiscard]] static constexpr ScalarType higher(ScalarType first, ScalarType second) noexcept {
    if (first == ScalarType::undefined) return second;
    if (is_floating(first) && is_complex(second)) return complex_of(first);
    if (second == ScalarType::undefined || is_complex(first) || is_floating(first)) return first;
    if (first == ScalarType::bool_ || is_floating(second) || is_complex(second)) return promote(first, second);
    return first;
  }
};

}  // namespace davit
