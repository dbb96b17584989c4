// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "davit/kernels/constant_math.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::kernels {

/// Mean and population variance, and the factor of a normalization: 1 / sqrt(variance + eps).
template <class Sum = double>
struct Moments {
  Sum mean = 0;
  Sum variance = 0;

  [[nodiscard, gnu::always_inline]] constexpr Sum inverse_deviation(Sum eps) const noexcept {
    return Sum{1} / sqrt(variance + eps);
  }
};

namespace detail {

/// The largest (or smallest) element of a vector without NaN.
template <bool Largest, class C, std::size_t Bytes>
[[nodiscard, gnu::always_inline]] inline C extreme_lane(const Vector<C, Bytes>& v) noexcept {
  if constexpr (Bytes > 16) {
    Vector<C, Bytes / 2> low, high;
    std::memcpy(&low, &v, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return extreme_lane<Largest, C, Bytes / 2>((Largest ? high > low : high < low) ? high : low);
  } else {
    C extreme = v[0];
    for (std::int64_t k = 1; k < lanes<C, Bytes>; ++k)
      extreme = (Largest ? v[k] > extreme : v[k] < extreme) ? v[k] : extreme;
    return extreme;
  }
}
/// The largest (or smallest) of `count` elements, at least one, `step` apart; a NaN if there is one. Of zeros of both
/// signs either.
template <bool Largest, std::size_t Bytes, class C, class N>
[[nodiscard, gnu::always_inline]] constexpr C extreme_of(const C* x, N count, N step) noexcept {
  C extreme = x[0];
  const auto take = [&](C v) __attribute__((always_inline)) {
    if ((Largest ? v > extreme : v < extreme) || v != v) extreme = v;
  };
  N i = 1;
  if !consteval {
    if constexpr (walks_vectors<Bytes> && (std::is_floating_point_v<C> || Bytes > 16)) {
      using V = Vector<C, Bytes>;
      constexpr auto lane = static_cast<N>(lanes<C, Bytes>);
      if (step == 1 && count >= lane) {
        const V first = vector_at<Bytes>(x);
        V most[4] = {first, first, first, first};
        auto nan = first != first;
        const auto work = [&](V& so_far, N at) __attribute__((always_inline)) {
          const V v = vector_at<Bytes>(x + at);
          so_far = (Largest ? v > so_far : v < so_far) ? v : so_far;
          if constexpr (std::is_floating_point_v<C>) {
            auto more = v != v;
            keep_bits(more);
            nan |= more;
          }
        };
        for (i = lane; i + 4 * lane <= count; i += 4 * lane)
          for (int k = 0; k < 4; ++k) work(most[k], i + k * lane);
        for (; i + lane <= count; i += lane) work(most[0], i);
        if (i < count) work(most[0], count - lane);  // repeats some elements
        i = count;
        for (const V& some : most) most[0] = (Largest ? some > most[0] : some < most[0]) ? some : most[0];
        extreme = extreme_lane<Largest, C, Bytes>(most[0]);
        if constexpr (std::is_floating_point_v<C>)
          if (sum_of<PlaceOf<C>, Bytes>(nan) != 0) return std::numeric_limits<C>::quiet_NaN();
      }
    }
  }
  for (; i < count; ++i) take(x[i * step]);
  return extreme;
}

/// The sum of (x[i] - from) ** Power in type Sum, with partial sums; for short vectors in float and in order.
template <int Power, std::size_t Bytes, class Sum, class C, class N>
[[nodiscard, gnu::always_inline]] constexpr Sum sum_of_powers(const C* x, N n, Sum from) noexcept {
  Sum sum = 0;
  N i = 0;
  if !consteval {
    if constexpr (std::is_same_v<Sum, double> || Bytes >= 16) {
      constexpr auto step = static_cast<N>(lanes<Sum, Bytes>);
      const auto add = [from](const C* elements, Vector<Sum, Bytes>& to) __attribute__((always_inline)) {
        using Wide = Vector<Sum, Bytes>;
        const Wide v = __builtin_convertvector((vector_at<Bytes * sizeof(C) / sizeof(Sum)>(elements)), Wide) - from;
        to += Power == 2 ? v * v : v;
      };
      Vector<Sum, Bytes> a{}, b{};
      for (; i + 2 * step <= n; i += 2 * step) {
        add(x + i, a);
        add(x + i + step, b);
      }
      sum = sum_of<Sum, Bytes>(a + b);
    }
  }
  for (; i < n; ++i) {
    const Sum v = static_cast<Sum>(x[i]) - from;
    sum += Power == 2 ? v * v : v;
  }
  return sum;
}

}  // namespace detail

/// The moments of `parts` arrays of `n` elements, `step` apart, summed in type Sum on vectors of `Bytes` bytes; mean 0
/// and variance NaN if there are no elements.
template <std::size_t Bytes, class Sum = double, class C, class N>
[[nodiscard, gnu::always_inline]] constexpr Moments<Sum> moments_on(const C* x, N n, N parts, N step) noexcept {
  const auto count = static_cast<Sum>(n * parts);
  Sum sum = 0;
  for (N p = 0; p < parts; ++p) sum += detail::sum_of_powers<1, Bytes, Sum>(x + p * step, n, Sum{});
  const Sum mean = count == 0 ? 0 : sum / count;
  Sum squares = 0;
  for (N p = 0; p < parts; ++p) squares += detail::sum_of_powers<2, Bytes, Sum>(x + p * step, n, mean);
  return {mean, squares / count};
}

}  // namespace davit::kernels
