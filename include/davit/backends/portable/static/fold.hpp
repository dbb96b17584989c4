// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "davit/backends/portable/static/mapped.hpp"
#include "davit/backends/portable/static/reduce.hpp"
#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/constant_math.hpp"

/// Reductions, scans and orders of elements of any type.
namespace davit::static_kernels {

/// What elements of T are summed in.
template <class T>
using Summed = std::conditional_t<std::is_same_v<Computed<T>, float>, Wide, Computed<T>>;

/// @name What a fold begins with, and how it goes on; integers are modulo 2^64.
struct SumOf {
  template <class C>
  static constexpr C start{};
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C sum, C v) const noexcept {
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(v));
    else
      return sum + v;
  }
};
struct ProductOf {
  template <class C>
  static constexpr C start{1};
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C product, C v) const noexcept {
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(static_cast<std::uint64_t>(product) * static_cast<std::uint64_t>(v));
    else
      return product * v;
  }
};
/// Whether one is not zero.
struct AnyOf {
  template <class C>
  static constexpr C start{};
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C any, C v) const noexcept {
    return any != 0 || v != 0 ? C{1} : C{};
  }
};

/// The greater (or lesser) one; NaN prevails.
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
/// log(e^a + e^b), as exactly as a float tells. Source: at::native::_log_add_exp_helper.
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

/// y = each group folded, in order; divided by the group's size where `Mean`. O(numel).
/// Source: at::sum, at::prod, at::any, at::mean.
template <class Op, bool Mean, class P, class T, class R>
[[gnu::always_inline]] constexpr void fold(const P& params, const T* x, R* y) noexcept {
  using C = Summed<T>;
  const Reduce& p = numbers_of(params);
  detail::walk_each(p.kept, [&](Index base) __attribute__((always_inline)) {
    C folded = Op::template start<C>;
    detail::walk_each(p.group, [&](Index i) __attribute__((always_inline)) {
      folded = Op{}(folded, kernels::convert<C>(x[base + i]));
    });
    if constexpr (Mean) folded /= static_cast<C>(p.group.count());
    *y++ = kernels::convert<R>(folded);
  });
}

/// Rows of `count` elements that lie `inner` apart.
struct Rows {
  std::int32_t outer = 1, count = 1, inner = 1;
};
namespace detail {
/// Calls f(where the row begins) for each.
template <class F>
[[gnu::always_inline]] constexpr void each_row(const Rows& rows, F&& f) noexcept {
  for (Index o = 0; o < rows.outer; ++o)
    for (Index i = 0; i < rows.inner; ++i) f(o * rows.count * rows.inner + i, o, i);
}
}  // namespace detail

/// y[i] = the elements of the row up to i, folded. O(numel). Source: at::cumsum, at::cumprod.
template <class Op, class P, class T>
[[gnu::always_inline]] constexpr void scan(const P& params, const T* x, T* y) noexcept {
  using C = Summed<T>;
  const Rows& p = numbers_of(params);
  detail::each_row(p, [&](Index base, Index, Index) __attribute__((always_inline)) {
    C folded = Op::template start<C>;
    for (Index i = 0; i < p.count; ++i) {
      const Index at = base + i * p.inner;
      folded = Op{}(folded, kernels::convert<C>(x[at]));
      y[at] = kernels::convert<T>(folded);
    }
  });
}

/// values and indices: the greatest (or least) element of the row so far, the last of equal ones; NaN prevails.
/// O(numel). Source: at::cummax, at::cummin.
template <bool Largest, class P, class T>
[[gnu::always_inline]] constexpr void running_extreme(const P& params, const T* x, T* values,
                                                      std::int64_t* indices) noexcept {
  const Rows& p = numbers_of(params);
  detail::each_row(p, [&](Index base, Index, Index) __attribute__((always_inline)) {
    Index best = 0;
    for (Index i = 0; i < p.count; ++i) {
      const Index at = base + i * p.inner;
      const T v = x[at], found = x[base + best * p.inner];
      if (v != v || (found == found && (Largest ? v >= found : v <= found))) best = i;
      values[at] = x[base + best * p.inner];
      indices[at] = best;
    }
  });
}

/// The first `taken` elements of each row in order.
struct Ranked {
  Rows rows{};
  std::int32_t taken = 1;
  std::int32_t descending = 0;
};
/// values and indices: the `taken` least (or greatest) elements of each row in order, equal ones in the row's order;
/// NaN is the greatest. O(numel * taken), no memory. Source: at::sort (stable), at::topk.
template <class P, class T>
[[gnu::always_inline]] constexpr void ranked(const P& params, const T* x, T* values, std::int64_t* indices) noexcept {
  const Ranked& p = numbers_of(params);
  const Rows& rows = p.rows;
  const auto precedes = [&](T a, Index at_a, T b, Index at_b) __attribute__((always_inline)) {
    const bool less = a < b || (b != b && a == a), greater = b < a || (a != a && b == b);
    return less || greater ? (p.descending != 0 ? greater : less) : at_a < at_b;
  };
  detail::each_row(rows, [&](Index base, Index o, Index i) __attribute__((always_inline)) {
    Index last = -1;
    for (Index k = 0; k < p.taken; ++k) {
      Index best = -1;
      for (Index c = 0; c < rows.count; ++c) {
        const T v = x[base + c * rows.inner];
        if (last >= 0 && !precedes(x[base + last * rows.inner], last, v, c)) continue;
        if (best < 0 || precedes(v, c, x[base + best * rows.inner], best)) best = c;
      }
      const Index to = (o * p.taken + k) * rows.inner + i;
      values[to] = x[base + best * rows.inner];
      indices[to] = best;
      last = best;
    }
  });
}

}  // namespace davit::static_kernels
