// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/walk.hpp"

/// Reductions, scans and sorting for elements of any type.
namespace davit::static_kernels {

/// A reduction of each group of elements (a `group` walk from each position of `kept`) to one.
struct Reduce {
  Walk<1> kept{}, group{};
};

/// y = each group folded, in order; divided by the group's size where `Mean`. O(numel).
/// Source: at::sum, at::prod, at::any, at::mean.
template <class Op, bool Mean = false>
struct fold {
  using Params = Reduce;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, R* y, const T* x) noexcept {
    using C = Summed<T>;
    const Reduce& p = numbers_of(params);
    [[maybe_unused]] const auto count = static_cast<C>(Mean ? p.group.count() : 1);
    detail::walk_each(p.kept, [&](Index base) __attribute__((always_inline)) {
      C folded = Op::template start<C>;
      detail::walk_each(p.group, [&](Index i) __attribute__((always_inline)) {
        folded = Op{}(folded, kernels::convert<C>(x[base + i]));
      });
      if constexpr (Mean) folded /= count;
      *y++ = kernels::convert<R>(folded);
    });
  }
};

namespace detail {

/// Calls put(largest or smallest element of a group, its index in the group); of equal elements the first, and NaN
/// wins.
template <bool Largest, class T, class Put>
[[gnu::always_inline]] constexpr void each_extreme(const Reduce& p, const T* x, Put&& put) noexcept {
  walk_each(p.kept, [&](Index base) __attribute__((always_inline)) {
    T best{};
    Index best_at = -1, at = 0;
    walk_each(p.group, [&](Index i) __attribute__((always_inline)) {
      const T v = x[base + i];
      if (best_at < 0 || (best == best && (v != v || (Largest ? v > best : v < best)))) {
        best = v;
        best_at = at;
      }
      ++at;
    });
    put(best, best_at);
  });
}

}  // namespace detail

/// y = the largest (or smallest) element of each group. O(numel). Source: at::amax, at::amin.
template <bool Largest>
struct extreme {
  using Params = Reduce;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x) noexcept {
    detail::each_extreme<Largest>(numbers_of(params), x, [&](T v, Index) { *y++ = v; });
  }
};
/// y = the index of that element in its group. O(numel). Source: at::argmax, at::argmin.
template <bool Largest>
struct arg_extreme {
  using Params = Reduce;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, std::int64_t* y, const T* x) noexcept {
    detail::each_extreme<Largest>(numbers_of(params), x, [&](T, Index at) { *y++ = at; });
  }
};

/// Rows of `count` elements, `inner` apart.
struct Rows {
  std::int32_t outer = 1, count = 1, inner = 1;
};
namespace detail {
/// Calls f(offset of the row) for each row.
template <class F>
[[gnu::always_inline]] constexpr void each_row(const Rows& rows, F&& f) noexcept {
  for (Index o = 0; o < rows.outer; ++o)
    for (Index i = 0; i < rows.inner; ++i) f(o * rows.count * rows.inner + i, o, i);
}
}  // namespace detail

/// y[i] = the fold of the row's elements up to i. O(numel). Source: at::cumsum, at::cumprod.
template <class Op>
struct scan {
  using Params = Rows;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x) noexcept {
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
};

/// values and indices: the greatest (or least) element of the row so far, the last of equal ones; NaN wins. O(numel).
/// Source: at::cummax, at::cummin.
template <bool Largest>
struct running_extreme {
  using Params = Rows;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* values, std::int64_t* indices,
                                                   const T* x) noexcept {
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
};

/// values and indices: the first `taken` elements of each row in order, least (or greatest) first, equal ones in the
/// row's order; NaN is the greatest. O(numel * taken), no memory. Source: at::sort (stable), at::topk.
struct ranked {
  struct Params {
    Rows rows{};
    std::int32_t taken = 1;
    std::int32_t descending = 0;
  };
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* values, std::int64_t* indices,
                                                   const T* x) noexcept {
    const Params& p = numbers_of(params);
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
};

}  // namespace davit::static_kernels
