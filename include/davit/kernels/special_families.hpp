// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "davit/kernels/bessel_functions.hpp"
#include "davit/kernels/gamma_functions.hpp"
#include "davit/kernels/orthogonal_polynomials.hpp"
#include "davit/kernels/parameters.hpp"

/// Special functions that few programs use: one functor for all of one number, and one for all of two, so that they
/// share a loop per type.
namespace davit::kernels {

enum class Special : std::uint8_t {
  airy_ai,
  bessel_j0,
  bessel_j1,
  bessel_y0,
  bessel_y1,
  i0e,
  i1,
  i1e,
  k0,
  k1,
  scaled_k0,
  scaled_k1,
  spherical_bessel_j0,
  polygamma
};
enum class SpecialPair : std::uint8_t { zeta, igamma, igammac, nextafter, polynomial };

/// A function of one number: integer 0 selects it, integer 1 is the order of polygamma.
template <class T>
struct SpecialFunction {
  explicit constexpr SpecialFunction(Parameters& p) noexcept
      : which(static_cast<Special>(p.integers[0])), order(p.integers[1]) {}
  T operator()(T x) const noexcept {
    switch (which) {
      case Special::airy_ai: return detail::airy_ai(x);
      case Special::bessel_j0: return detail::bessel_j(0, x);
      case Special::bessel_j1: return detail::bessel_j(1, x);
      case Special::bessel_y0: return detail::bessel_y(0, x);
      case Special::bessel_y1: return detail::bessel_y(1, x);
      case Special::i0e: return static_cast<T>(detail::scaled_bessel_i(0, static_cast<double>(x)));
      case Special::i1: return detail::bessel_i(1, x);
      case Special::i1e: return static_cast<T>(detail::scaled_bessel_i(1, static_cast<double>(x)));
      case Special::k0: return detail::bessel_k(0, x, false);
      case Special::k1: return detail::bessel_k(1, x, false);
      case Special::scaled_k0: return detail::bessel_k(0, x, true);
      case Special::scaled_k1: return detail::bessel_k(1, x, true);
      case Special::spherical_bessel_j0: return detail::spherical_bessel_j0(x);
      case Special::polygamma: return detail::polygamma(order, x);
    }
    return x;
  }
  Special which;
  std::int64_t order;
};

namespace detail {
/// The next number of 8 (bfloat16) or 11 (float16) significant bits from a towards b; both are such numbers.
template <class T>
[[nodiscard]] T next_half(T a, T b, bool bfloat) noexcept {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return b;
  const int bits = bfloat ? 7 : 10, least = bfloat ? -126 : -14;
  if (a == 0) return std::copysign(std::ldexp(T{1}, least - bits), b);
  if (std::isinf(a)) return std::copysign(bfloat ? std::ldexp(T{255}, 120) : T{65504}, a);
  const T size = std::fabs(a);
  const int exponent = std::ilogb(size);
  const bool shrinks = (b < a) == (a > 0), at_power = size == std::ldexp(T{1}, exponent);
  const int at = exponent < least ? least : shrinks && at_power && exponent > least ? exponent - 1 : exponent;
  const T step = std::ldexp(T{1}, at - bits);
  const T next = shrinks ? size - step : size + step;
  return std::copysign(!bfloat && next > 65504 ? std::numeric_limits<T>::infinity() : next, a);
}
}  // namespace detail

/// A function of two numbers: integer 0 selects it; integer 1 selects the polynomial, or is nextafter's dtype if C++
/// lacks it (16 for float16, 8 for bfloat16); integer 2: a shifted polynomial.
template <class T>
struct SpecialPairFunction {
  explicit constexpr SpecialPairFunction(Parameters& p) noexcept
      : which(static_cast<SpecialPair>(p.integers[0])), kind(p.integers[1]), shifted(p.integers[2] != 0) {}
  T operator()(T a, T b) const noexcept {
    const auto wide = static_cast<double>(a), other = static_cast<double>(b);
    switch (which) {
      case SpecialPair::zeta: return static_cast<T>(detail::hurwitz_zeta(wide, other));
      case SpecialPair::igamma: return static_cast<T>(detail::incomplete_gamma(wide, other, false));
      case SpecialPair::igammac: return static_cast<T>(detail::incomplete_gamma(wide, other, true));
      case SpecialPair::nextafter: return kind == 0 ? std::nextafter(a, b) : detail::next_half(a, b, kind == 8);
      case SpecialPair::polynomial: return polynomial(static_cast<Polynomial>(kind), a, b, shifted);
    }
    return a;
  }
  SpecialPair which;
  std::int64_t kind;
  bool shifted;
};

}  // namespace davit::kernels
