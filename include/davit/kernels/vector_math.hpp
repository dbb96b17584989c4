// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/core/target.hpp"
#include "davit/kernels/constant_math.hpp"
#include "davit/kernels/vectors.hpp"

/// Functions on vectors of float, accurate to a few units in the last place; the result is written to `to`.
namespace davit::kernels {

/// Below it exp is subnormal, and 0 in a softmax, as in oneDNN's and XNNPACK's.
inline constexpr float exp_floor = -87.33654f;

namespace detail {
template <FloatVector V>
using IntsOf = Vector<std::int32_t, sizeof(V)>;

/// Rounds elements to float where registers keep more digits (x87).
template <class V>
[[gnu::always_inline]] inline void drop_excess([[maybe_unused]] V& v) noexcept {
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 2
  asm("" : "+m"(v));
#endif
}
/// Absolute values, and absolute values with the signs of another vector.
template <FloatVector V>
[[gnu::always_inline]] inline void take_magnitude(const V& x, V& to) noexcept {
  to = __builtin_bit_cast(V, __builtin_bit_cast(IntsOf<V>, x) & 0x7fffffff);
}
template <FloatVector V>
[[gnu::always_inline]] inline void take_sign(const V& magnitude, const V& sign, V& to) noexcept {
  to = __builtin_bit_cast(V, __builtin_bit_cast(IntsOf<V>, magnitude) |
                                 (__builtin_bit_cast(IntsOf<V>, sign) & static_cast<std::int32_t>(0x80000000u)));
}

/// exp(r) for |r| <= log(2) / 2.
template <FloatVector V>
[[gnu::always_inline]] inline void exp_series(const V& r, V& p) noexcept {
  p = r * (1.0f / 5040) + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
}
/// The integers nearest to x * factor, for magnitudes below 2^22.
template <FloatVector V>
[[gnu::always_inline]] inline void take_nearest(const V& x, float factor, IntsOf<V>& n, V& whole) noexcept {
  constexpr float round = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  V shifted = x * factor + round;
  drop_excess(shifted);
  whole = shifted - round;
  n = __builtin_bit_cast(IntsOf<V>, shifted) - __builtin_bit_cast(std::int32_t, round);
}
/// exp(x) = 2^n * p for x in [-104, 89].
template <FloatVector V>
[[gnu::always_inline]] inline void exp_parts(const V& x, IntsOf<V>& n, V& p) noexcept {
  V whole;
  take_nearest(x, 1.44269504f, n, whole);
  exp_series<V>((x - whole * 0.693359375f) - whole * -2.12194440e-4f, p);
}
/// x * 2^n for n in [-126, 127].
template <FloatVector V>
[[gnu::always_inline]] inline void scale_by_power(V& x, const IntsOf<V>& n) noexcept {
  x *= __builtin_bit_cast(V, (n + 127) << 23);
}
/// exp for elements up to 88; 0 below exp_floor. NaN stays NaN.
template <FloatVector V>
[[gnu::always_inline]] inline void exp_of_small(const V& x, V& to) noexcept {
  IntsOf<V> n;
  V e;
  exp_parts(x, n, e);
  scale_by_power(e, n);
  to = __builtin_bit_cast(V, __builtin_bit_cast(IntsOf<V>, e) & ~(x < exp_floor));
}
template <class T>
[[gnu::always_inline]] constexpr T exp_of_small(T x) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    if (x < exp_floor) return 0;
  }
  return exp(x);
}
}  // namespace detail

/// p * 2^n, also if 2^n overflows or underflows.
template <FloatVector V>
[[gnu::always_inline]] inline void vector_scaled(const V& p, const detail::IntsOf<V>& n, V& to) noexcept {
  const detail::IntsOf<V> half = n >> 1;
  V result = p;
  detail::scale_by_power(result, half);
  detail::scale_by_power<V>(result, n - half);
  to = result;
}

/// exp of each element, also where it is infinite or subnormal. Method: 2^n times a polynomial on [-ln 2 / 2, ln 2 /
/// 2].
template <FloatVector V>
[[gnu::always_inline]] inline void vector_exp(const V& x, V& to) noexcept {
  V bounded = x < -104.0f ? V{} - 104.0f : x;
  bounded = bounded > 89.0f ? V{} + 89.0f : bounded;
  detail::IntsOf<V> n;
  V e;
  detail::exp_parts(bounded, n, e);
  vector_scaled(e, n, to);
}

/// 2^x of each element, with the same method.
template <FloatVector V>
[[gnu::always_inline]] inline void vector_exp2(const V& x, V& to) noexcept {
  V bounded = x < -151.0f ? V{} - 151.0f : x;
  bounded = bounded > 129.0f ? V{} + 129.0f : bounded;
  detail::IntsOf<V> n;
  V whole, p;
  detail::take_nearest(bounded, 1.0f, n, whole);
  detail::exp_series<V>((bounded - whole) * 0.693147181f, p);
  vector_scaled(p, n, to);
}

/// exp(x) - 1, exact near 0. Method: exp, and a polynomial below 0.35.
template <FloatVector V>
[[gnu::always_inline]] inline void vector_expm1(const V& x, V& to) noexcept {
  V e, a;
  vector_exp(x, e);
  detail::take_magnitude(x, a);
  V p = x * (1.0f / 40320) + 1.0f / 5040;
  p = p * x + 1.0f / 720;
  p = p * x + 1.0f / 120;
  p = p * x + 1.0f / 24;
  p = p * x + 1.0f / 6;
  p = p * x + 0.5f;
  to = a < 0.35f ? x * (1.0f + x * p) : e - 1.0f;  // keeps -0
}

/// 1 / (1 + exp(-x)).
template <FloatVector V>
[[gnu::always_inline]] inline void vector_sigmoid(const V& x, V& to) noexcept {
  V e;
  vector_exp<V>(-x, e);
  to = 1.0f / (1.0f + e);
}

/// tanh. Method: 1 - 2 / (exp(2 |x|) + 1), and a polynomial below 0.625.
template <FloatVector V>
[[gnu::always_inline]] inline void vector_tanh(const V& x, V& to) noexcept {
  V a, e;
  detail::take_magnitude(x, a);
  const V bounded = a > 10.0f ? V{} + 10.0f : a;
  detail::exp_of_small<V>(bounded + bounded, e);
  const V s = a * a;
  V p = s * -5.717187654e-3f + 2.0650707185e-2f;
  p = p * s + -5.374353379e-2f;
  p = p * s + 1.3331492245e-1f;
  p = p * s + -3.333328366e-1f;
  detail::take_sign<V>(a < 0.625f ? a + a * s * p : 1.0f - 2.0f / (e + 1.0f), x, to);
}

/// erf. Method: 1 - exp(h(|x|)); h, and the function near 0, are polynomials of minimal error.
template <FloatVector V>
[[gnu::always_inline]] inline void vector_erf(const V& x, V& to) noexcept {
  V magnitude, e;
  detail::take_magnitude(x, magnitude);
  const V a = magnitude > 4.0f ? V{} + 4.0f : magnitude;
  V h = a * 2.14595886e-4f + -3.2199821435e-3f;
  h = h * a + 2.2906050086e-2f;
  h = h * a + -1.0528687388e-1f;
  h = h * a + -6.3569933176e-1f;
  h = h * a + -1.2851995230e-1f;
  detail::exp_of_small<V>(h * a - a, e);
  const V s = a * a;
  V p = s * -5.886773579e-4f + 4.9731167965e-3f;
  p = p * s + -2.6753334329e-2f;
  p = p * s + 1.1281466484e-1f;
  p = p * s + -3.7612462044e-1f;
  p = p * s + 1.2837915123e-1f;
  detail::take_sign<V>(a < 0.9375f ? a + a * p : 1.0f - e, x, to);
}

/// The square root, exactly rounded.
template <FloatVector V>
[[gnu::always_inline]] inline void vector_sqrt(const V& x, V& to) noexcept {
#if defined(__clang__)
  to = __builtin_elementwise_sqrt(x);
#elif DAVIT_TARGET_X86_64  // std::sqrt also sets errno, and is not vectorized
  if constexpr (sizeof(V) == 64)
    asm("vsqrtps %1, %0" : "=v"(to) : "v"(x));
  else if constexpr (sizeof(V) == 32 || vector_bytes > 16)
    asm("vsqrtps %1, %0" : "=x"(to) : "x"(x));
  else
    asm("sqrtps %1, %0" : "=x"(to) : "x"(x));
#else
#if DAVIT_TARGET_ARM64
  if constexpr (sizeof(V) == 16) {
    asm("fsqrt %0.4s, %1.4s" : "=w"(to) : "w"(x));
    return;
  }
#endif
  for (std::size_t i = 0; i < sizeof(V) / sizeof(float); ++i) to[i] = sqrt(static_cast<float>(x[i]));
#endif
}

/// Rounds to the nearest integer, halves to even.
template <FloatVector V>
[[gnu::always_inline]] inline void vector_round(const V& x, V& to) noexcept {
  constexpr float whole = 8388608.0f;  // from here on all floats are integers
  V a;
  detail::take_magnitude(x, a);
  V shifted = a + whole;
  detail::drop_excess(shifted);
  const V rounded = shifted - whole;
  detail::take_sign<V>(a < whole ? rounded : a, x, to);
}

/// The natural logarithm. Method: of x = 2^e * m, e * log(2) + log(m), by a series in (m - 1) / (m + 1).
template <FloatVector V>
[[gnu::always_inline]] inline void vector_log(const V& x, V& to) noexcept {
  using Ints = detail::IntsOf<V>;
  constexpr std::int32_t root = 0x3f3504f3;  // sqrt(1/2): m is between it and sqrt(2)
  const auto small = x < 1.17549435e-38f;
  const Ints lowered = __builtin_bit_cast(Ints, small) & 23;
  const Ints bits = __builtin_bit_cast(Ints, small ? x * 8388608.0f : x);
  const Ints e = (bits - root) >> 23;
  const V f = __builtin_bit_cast(V, bits - (e << 23)) - 1.0f;
  const V s = f / (f + 2.0f);
  const V z = s * s;
  V r = z * (2.0f / 9) + 2.0f / 7;
  r = r * z + 2.0f / 5;
  r = r * z + 2.0f / 3;
  const V power = __builtin_convertvector(e - lowered, V);
  V result = power * 0.693359375f + (f - (s * (f - r * z) + power * 2.12194440e-4f));
  constexpr float infinity = __builtin_inff();
  take_where(x == infinity, x, result, result);
  take_where(x == 0.0f, V{} - infinity, result, result);
  take_where((x >= 0.0f), result, V{} + __builtin_nanf(""), to);
}

/// log(1 + x), exact near 0; infinite near the end of std::log1p's range, as torch's Sleef_log1p.
template <FloatVector V>
[[gnu::always_inline]] inline void vector_log1p(const V& x, V& to) noexcept {
  const V u = x + 1.0f;
  V result;
  vector_log(u, result);
  const V lost = (x - (u - 1.0f)) / u;  // the part of u that rounding lost
  const V corrected = result + lost;
  const auto matters = (x > -1.0f) & (x < 16777216.0f);
  take_where(matters, corrected, result, result);
  take_where(x == 0.0f, x, result, result);
  take_where(x > 1e38f, V{} + __builtin_inff(), result, to);
}

namespace detail {
/// For magnitudes whose reduction needs more digits, element by element.
template <bool Cosine>
[[gnu::noinline, gnu::cold]] inline void sines_of_large(const float* x, float* to, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = Cosine ? std::cos(x[i]) : std::sin(x[i]);
}
/// The sine or the cosine, to an ulp of 1. Method: x minus the nearest multiple of pi / 2, subtracted in three parts,
/// then their series.
template <bool Cosine, FloatVector V>
[[gnu::always_inline]] inline void vector_sine(const V& x, V& to) noexcept {
  V a;
  take_magnitude(x, a);
  const auto large = a > 4096.0f;
  if (sum_of<std::int32_t, sizeof(V)>(__builtin_bit_cast(IntsOf<V>, large)) != 0) [[unlikely]] {
    constexpr std::int64_t lane = lanes<float, sizeof(V)>;
    float each[static_cast<std::size_t>(lane)], results[static_cast<std::size_t>(lane)];
    vector_at<sizeof(V)>(each) = x;
    sines_of_large<Cosine>(each, results, lane);
    to = vector_at<sizeof(V)>(results);
    return;
  }
  IntsOf<V> quarter;
  V turns;
  take_nearest(x, 0.636619772f, quarter, turns);
  quarter += Cosine ? 1 : 0;
  const V r = ((x - turns * 1.5703125f) - turns * 4.837512969970703125e-4f) - turns * 7.54978995489188216e-8f;
  const V z = r * r;
  V s = z * (1.0f / 362880) + -1.0f / 5040;
  s = s * z + 1.0f / 120;
  s = s * z + -1.0f / 6;
  s = s * z * r + r;
  take_where(z == 0.0f, r, s, s);  // keeps -0
  V c = z * (-1.0f / 3628800) + 1.0f / 40320;
  c = c * z + -1.0f / 720;
  c = c * z + 1.0f / 24;
  c = c * z + -0.5f;
  c = c * z + 1.0f;
  V value;
  take_where((quarter & 1) != 0, c, s, value);
  to = __builtin_bit_cast(V, __builtin_bit_cast(IntsOf<V>, value) ^ ((quarter & 2) << 30));
}
}  // namespace detail
template <FloatVector V>
[[gnu::always_inline]] inline void vector_sin(const V& x, V& to) noexcept {
  detail::vector_sine<false>(x, to);
}
template <FloatVector V>
[[gnu::always_inline]] inline void vector_cos(const V& x, V& to) noexcept {
  detail::vector_sine<true>(x, to);
}

/// y[i * step] = exp(x[i * step] - shift), 0 for float if that is subnormal, and the sum; on vectors of `Bytes` bytes
/// if the elements are adjacent. `y` may be `x`. For shift >= every x; NaN stays NaN. O(n).
template <class Sum, std::size_t Bytes, class T, class N>
[[gnu::always_inline]] constexpr Sum exp_shifted_on(const T* x, T shift, T* y, N n, N step) noexcept {
  Sum sum = 0;
  N i = 0;
  if !consteval {
    if constexpr (std::is_same_v<T, float> && Bytes >= 16) {
      constexpr N block = 256;
      constexpr auto lane = static_cast<N>(lanes<float, Bytes>);
      while (step == 1 && i + lane <= n) {
        Vector<float, Bytes> partial{};
        const N end = i + block < n ? i + block : n;
        for (; i + lane <= end; i += lane) {
          const Vector<float, Bytes> shifted = vector_at<Bytes>(x + i) - shift;
          Vector<float, Bytes> e;
          detail::exp_of_small(shifted, e);
          vector_at<Bytes>(y + i) = e;
          partial += e;
        }
        sum += static_cast<Sum>(sum_of<float, Bytes>(partial));
      }
      if constexpr (Bytes > 16)
        if (step == 1) return sum + exp_shifted_on<Sum, Bytes / 2>(x + i, shift, y + i, n - i, step);
    }
  }
  for (; i < n; ++i) {
    y[i * step] = detail::exp_of_small(x[i * step] - shift);
    sum += static_cast<Sum>(y[i * step]);
  }
  return sum;
}

}  // namespace davit::kernels
