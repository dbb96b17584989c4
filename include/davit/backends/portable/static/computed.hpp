// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/constant_math.hpp"
#include "davit/kernels/convert.hpp"

/// The compute types of static kernels, the numbers among their parameters, and the functions that fold elements.
namespace davit::static_kernels {

/// The compute type of elements of T: float, double or, for all integers and bools, int64.
template <class T>
using Computed = std::conditional_t<
    std::is_same_v<T, double>, double,
    std::conditional_t<std::is_same_v<T, float> || kernels::is_reduced_float<T>, float, std::int64_t>>;
/// The type of sums of elements of T.
template <class T>
using Summed = std::conditional_t<std::is_same_v<Computed<T>, float>, Wide, Computed<T>>;

template <class T>
[[nodiscard, gnu::always_inline]] constexpr Computed<T> loaded(T v) noexcept {
  return kernels::convert<Computed<T>>(v);
}

/// A number among a kernel's parameters, in its compute type: a float in the first word, else a double or an int64 in
/// both.
using NumberParam = std::array<std::int32_t, 2>;

template <class C>
[[nodiscard, gnu::always_inline]] constexpr C number_from(const NumberParam& encoded) noexcept {
  if constexpr (std::is_same_v<C, float>)
    return std::bit_cast<float>(encoded[0]);
  else
    return std::bit_cast<C>(encoded);
}
/// The number for a kernel on elements of that type.
[[nodiscard]] constexpr NumberParam number_param(ScalarType type, double real, std::int64_t integer) noexcept {
  if (!is_floating(type)) return std::bit_cast<NumberParam>(integer);
  if (type == ScalarType::float64) return std::bit_cast<NumberParam>(real);
  return {std::bit_cast<std::int32_t>(static_cast<float>(real)), 0};
}
/// The number for a kernel that computes in Wide.
[[nodiscard]] constexpr NumberParam wide_param(double real) noexcept {
  return number_param(std::is_same_v<Wide, double> ? ScalarType::float64 : ScalarType::float32, real, 0);
}

/// @name Folds: the first number, and the combination with the next element; integers are modulo 2^64.
/// @{
struct SumOf {
  template <class C>
  static constexpr C start{};
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C sum, C v) const noexcept {
    return kernels::wrap_add(sum, v);
  }
};
struct ProductOf {
  template <class C>
  static constexpr C start{1};
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C product, C v) const noexcept {
    return kernels::wrap_mul(product, v);
  }
};
/// 1 for a nonzero element.
struct AnyOf {
  template <class C>
  static constexpr C start{};
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C any, C v) const noexcept {
    return any != 0 || v != 0 ? C{1} : C{};
  }
};
/// The greater (or lesser) number; NaN wins.
template <bool Largest>
struct ExtremeOf {
  template <class C>
  static constexpr C start = std::numeric_limits<C>::has_infinity
                                 ? (Largest ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity())
                                 : (Largest ? std::numeric_limits<C>::lowest() : std::numeric_limits<C>::max());
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C a, C b) const noexcept {
    return Largest ? kernels::nan_max(a, b) : kernels::nan_min(a, b);
  }
};
/// log(e^a + e^b), to float precision. Source: at::native::_log_add_exp_helper.
struct LogSumOf {
  template <class C>
  static constexpr C start = -std::numeric_limits<C>::infinity();
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C a, C b) const noexcept {
    if (a != a || b != b) return a + b;
    const C most = a > b ? a : b, least = a > b ? b : a;
    constexpr C infinity = std::numeric_limits<C>::infinity();
    return most == infinity || least == -infinity
               ? most
               : most + static_cast<C>(kernels::log(1 + kernels::exp(static_cast<float>(least - most))));
  }
};
/// @}

}  // namespace davit::static_kernels
