// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/kernel_call.hpp"
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

/// The type arithmetic on `T` is done in: float for the 16-bit floats, else `T` itself.
template <class T>
using compute_type = std::conditional_t<is_reduced_float<T>, float, T>;

/// Calls `f.template operator()<T>()` with the C++ type of `type` if it is one of `Ts`, else answers invalid_dtype.
template <class... Ts, class F>
[[nodiscard]] ErrorCode dispatch(ScalarType type, F&& f) {
  ErrorCode code = ErrorCode::invalid_dtype;
  (void)((scalar_type_of<Ts> == type ? (code = f.template operator()<Ts>(), true) : false) || ...);
  return code;
}
template <class F>
[[nodiscard]] ErrorCode dispatch_float(ScalarType type, F&& f) {
  return dispatch<float, double, Half, BFloat16>(type, f);
}
template <class F>
[[nodiscard]] ErrorCode dispatch_integral(ScalarType type, F&& f) {
  return dispatch<std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t>(type, f);
}
/// The real types but bool that arithmetic takes (torch's operators do not take uint16, uint32 and uint64 either).
template <class F>
[[nodiscard]] ErrorCode dispatch_number(ScalarType type, F&& f) {
  return dispatch<float, double, Half, BFloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t>(type, f);
}
/// The same and bool.
template <class F>
[[nodiscard]] ErrorCode dispatch_all(ScalarType type, F&& f) {
  return dispatch<float, double, Half, BFloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t, bool>(type, f);
}
/// Every real type: for what only moves and converts.
template <class F>
[[nodiscard]] ErrorCode dispatch_any(ScalarType type, F&& f) {
  return dispatch<float, double, Half, BFloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t,
                  std::uint16_t, std::uint32_t, std::uint64_t, bool>(type, f);
}

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
