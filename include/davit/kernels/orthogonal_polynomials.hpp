// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

/// The orthogonal polynomials of torch.special, of whole degrees, computed in T; 0 for negative degrees. Source: ATen's
/// Math.h, for the switch from recurrence to cosine and the values at the interval's ends.
namespace davit::kernels {

enum class Polynomial : std::uint8_t {
  chebyshev_t,
  chebyshev_u,
  chebyshev_v,
  chebyshev_w,
  hermite_h,
  hermite_he,
  laguerre_l,
  legendre_p
};

namespace detail {

/// The four kinds of Chebyshev polynomials: p(0) = 1 and p(k + 1) = 2 x p(k) - p(k - 1); they differ in p(1).
template <class T>
[[nodiscard]] T chebyshev(Polynomial kind, T x, std::int64_t n, std::int64_t longest) noexcept {
  if (n < 0) return 0;
  const auto odd_sign = [&](T value) { return n % 2 == 0 ? value : -value; };
  const T count = static_cast<T>(n), width = count + count + 1;
  if (std::fabs(x) == 1) {
    if (kind == Polynomial::chebyshev_t) return x > 0 ? T{1} : odd_sign(1);
    if (kind == Polynomial::chebyshev_u) return x > 0 ? count + 1 : odd_sign(count + 1);
    if (kind == Polynomial::chebyshev_v) return x > 0 ? T{1} : odd_sign(width);
    return x > 0 ? width : odd_sign(1);
  }
  if (n > longest && std::fabs(x) < 1) {
    const T angle = std::acos(x);
    if (kind == Polynomial::chebyshev_t) return std::cos(count * angle);
    if (kind == Polynomial::chebyshev_u) return std::sin((count + 1) * angle) / std::sin(angle);
    if (kind == Polynomial::chebyshev_v) return std::cos((count + T{0.5}) * angle) / std::cos(angle / 2);
    return std::sin((count + T{0.5}) * angle) / std::sin(angle / 2);
  }
  T before = 1, now = kind == Polynomial::chebyshev_t ? x : x + x;
  if (kind == Polynomial::chebyshev_v) now -= 1;
  if (kind == Polynomial::chebyshev_w) now += 1;
  if (n == 0) return before;
  for (std::int64_t k = 1; k < n && !std::isnan(now); ++k) {
    const T next = (x + x) * now - before;
    before = now;
    now = next;
  }
  return now;
}
/// The polynomials whose recurrence coefficients depend on the degree.
template <class T>
[[nodiscard]] T by_degree(Polynomial kind, T x, std::int64_t n) noexcept {
  if (n < 0) return 0;
  if (kind == Polynomial::legendre_p && std::fabs(x) == 1) return x > 0 || n % 2 == 0 ? T{1} : T{-1};
  if (kind == Polynomial::laguerre_l && x == 0) return 1;
  if (n == 0) return 1;
  if (kind == Polynomial::hermite_h && n > (sizeof(T) == 4 ? 128 : 512)) return std::numeric_limits<T>::quiet_NaN();
  T before = 1, now = kind == Polynomial::hermite_h ? x + x : kind == Polynomial::laguerre_l ? 1 - x : x;
  for (std::int64_t degree = 1; degree < n && !std::isnan(now); ++degree) {
    const T k = static_cast<T>(degree);
    T next = 0;
    switch (kind) {
      case Polynomial::hermite_h: next = (x + x) * now - (k + k) * before; break;
      case Polynomial::hermite_he: next = x * now - k * before; break;
      case Polynomial::laguerre_l: next = ((k + k + (1 - x)) * now - k * before) / (k + 1); break;
      default: next = ((k + k + 1) * x * now - k * before) / (k + 1); break;
    }
    before = now;
    now = next;
  }
  return now;
}

}  // namespace detail

/// The polynomial of degree n at x, or at 2 x - 1 if `shifted`. O(n), or O(1) by a cosine.
template <class T>
[[nodiscard]] T polynomial(Polynomial kind, T x, T degree, bool shifted) noexcept {
  if (!(std::fabs(degree) < static_cast<T>(9e18))) return 0;
  const auto n = static_cast<std::int64_t>(degree);
  if (kind > Polynomial::chebyshev_w) return detail::by_degree(kind, x, n);
  const bool second = kind != Polynomial::chebyshev_t;
  if (!shifted) return detail::chebyshev(kind, x, n, second ? 8 : 6);
  return detail::chebyshev(kind, x + x - 1, n, kind == Polynomial::chebyshev_w ? 4 : 6);
}

}  // namespace davit::kernels
