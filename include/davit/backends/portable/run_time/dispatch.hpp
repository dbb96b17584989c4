// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/convert.hpp"
#include "davit/kernels/shapes.hpp"

namespace davit::portable_kernels {

using kernels::broadcast;
using kernels::broadcast_strides;
using kernels::convert;
using kernels::for_each_index;
using kernels::is_reduced_float;
using kernels::Sizes;
using kernels::strides_of;
using kernels::wrap_dim;

/// The type torch computes a result of two operands in, by category and width.
/// Source: c10::promoteTypes.
[[nodiscard]] constexpr ScalarType promote(ScalarType a, ScalarType b) noexcept {
  if (a == b) return a;
  if (a == ScalarType::undefined) return b;
  if (b == ScalarType::undefined) return a;
  const auto category = [](ScalarType t) { return t == ScalarType::bool_ ? 0 : is_integral(t) ? 1 : is_floating(t) ? 2 : 3; };
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

/// A Scalar argument as a value of type T (floats truncated towards zero for integers, non-zero for bool).
template <class T>
[[nodiscard]] constexpr T scalar_as(const EValue& value) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return value.number() != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value.integer());
  } else if constexpr (is_reduced_float<T>) {
    return T(static_cast<float>(value.number()));
  } else {
    return static_cast<T>(value.number());
  }
}

}  // namespace davit::portable_kernels
