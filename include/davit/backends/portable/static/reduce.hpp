// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/operands.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/program/operators/reduction.hpp"

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

/// Static lowering of reductions, scans and sorting.
namespace davit::static_lowering {

/// The walks of a reduction.
constexpr const char* reduced(const EmbedNode& n, const operators::ReductionView& v, sf::Reduce& p) {
  if (n.output() == no_id) return "it has no output";
  if (n.g.numel(v.input) == 0) return "a tensor has no elements";
  const std::vector<std::int64_t> strides = strides_of(n.g, v.input);
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (!(v.reduces(d) ? p.group : p.kept).push(n.size(v.input, d), {strides[d]})) return too_many_dims;
  return nullptr;
}
/// A reduction in the type of its result; with `Truth` that is bool.
template <class Op, bool Mean, bool Truth>
constexpr const char* lower_fold(const EmbedNode& n, StepWriter& steps) {
  operators::ReductionView v;
  if (const operators::Refusal wrong = operators::read_reduction(n, v)) return wrong.what;
  sf::Reduce p;
  if (const char* why = reduced(n, v, p)) return why;
  const ScalarType type = n.g.dtype(n.output());
  if (!is_computed(n.g.dtype(v.input)) || !is_computed(type)) return not_computed;
  if (Truth && type != ScalarType::bool_) return "its result is of an unexpected element type";
  const ReadAs read = Truth ? ReadAs{v.input} : read_as(n, steps, v.input, type);
  StepOperands step = steps.step<sf::fold<Op, Mean>>(p);
  step.out(n.output());
  read.to(step);
  return nullptr;
}
/// amax, argmax, and the two outputs of max.dim; max and min of all elements.
template <bool Largest, bool Values, bool Places>
constexpr const char* lower_extreme(const EmbedNode& n, StepWriter& steps) {
  operators::ReductionView v;
  if (const operators::Refusal wrong = operators::read_reduction(n, v)) return wrong.what;
  sf::Reduce p;
  if (const char* why = reduced(n, v, p)) return why;
  if (!is_computed(n.g.dtype(v.input))) return not_computed;
  if (Values && n.g.dtype(n.output()) != n.g.dtype(v.input)) return "its result is of an unexpected element type";
  if (Values) steps.step<sf::extreme<Largest>>(p).out(n.output()).in(v.input);
  if (Places && n.output(Values ? 1 : 0) != no_id)
    steps.step<sf::arg_extreme<Largest>>(p).out(n.output(Values ? 1 : 0)).in(v.input);
  return nullptr;
}

/// Reads the rows along the dimension that a parameter names.
constexpr const char* read_rows(const EmbedNode& n, ValueId x, operators::Parameter parameter, std::int64_t otherwise,
                                sf::Rows& rows) {
  if (x == no_id || n.output() == no_id) return "an operand is missing";
  if (n.g.numel(x) == 0) return "a tensor has no elements";
  std::int64_t dim = 0;
  const std::uint32_t rank = n.g.rank(x);
  if (!operators::read_integer(n, parameter, otherwise, dim) || !wrap_dim(dim, rank))
    return "its dimension is not known";
  if (!is_computed(n.g.dtype(x))) return not_computed;
  split_at(n, x, static_cast<std::size_t>(dim), rows.outer, rows.count, rows.inner);
  return nullptr;
}
template <class Op>
constexpr const char* lower_scan(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  sf::Rows rows;
  if (const char* why = read_rows(n, x, {"dim", 1}, 0, rows)) return why;
  if (!is_computed(n.g.dtype(n.output()))) return not_computed;
  const ReadAs read = read_as(n, steps, x, n.g.dtype(n.output()));
  StepOperands step = steps.step<sf::scan<Op>>(rows);
  step.out(n.output());
  read.to(step);
  return nullptr;
}
constexpr const char* lower_log_scan(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  const bool is_float = x != no_id && is_floating(n.g.dtype(x)) && n.g.dtype(x) != ScalarType::float64;
  return is_float ? lower_scan<sf::LogSumOf>(n, steps) : "it is of integers or float64";
}
/// cummax and cummin.
template <bool Largest>
constexpr const char* lower_running_extreme(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  sf::Rows rows;
  if (const char* why = read_rows(n, x, {"dim", 1}, 0, rows)) return why;
  if (n.output(1) == no_id) return "it has no second output";
  steps.step<sf::running_extreme<Largest>>(rows).out(n.output()).out(n.output(1)).in(x);
  return nullptr;
}
/// sort and topk.
constexpr const char* lower_ranked(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  const bool sorts = n.is("aten.sort.default");
  sf::ranked::Params p;
  if (const char* why = read_rows(n, x, {"dim", sorts ? 1u : 2u}, -1, p.rows)) return why;
  if (n.output(1) == no_id) return "it has no second output";
  std::int64_t taken = p.rows.count;
  bool descending = false;
  if (sorts ? !operators::read_flag(n, {"descending", 2}, false, descending)
            : !operators::read_flag(n, {"largest", 3}, true, descending) ||
                  !operators::read_integer(n, {"k", 1}, 0, taken))
    return "an argument is not known";
  if (taken < 0 || taken > p.rows.count) return "it takes more than there is";
  p.taken = int32(taken);
  p.descending = descending ? 1 : 0;
  if (taken == 0) return "a tensor has no elements";
  steps.step<sf::ranked>(p).out(n.output()).out(n.output(1)).in(x);
  return nullptr;
}

using reduce_kernels =
    kernel_list<sf::fold<sf::SumOf>, sf::fold<sf::SumOf, true>, sf::fold<sf::ProductOf>, sf::fold<sf::AnyOf>,
                sf::extreme<true>, sf::extreme<false>, sf::arg_extreme<true>, sf::arg_extreme<false>,
                sf::scan<sf::SumOf>, sf::scan<sf::ProductOf>, sf::scan<sf::LogSumOf>, sf::running_extreme<true>,
                sf::running_extreme<false>, sf::ranked>;

inline constexpr std::array reduce_rows{
    EmbedRow{"aten.sum.default", lower_fold<sf::SumOf, false, false>},
    EmbedRow{"aten.sum.dim_IntList", lower_fold<sf::SumOf, false, false>},
    EmbedRow{"aten.mean.default", lower_fold<sf::SumOf, true, false>},
    EmbedRow{"aten.mean.dim", lower_fold<sf::SumOf, true, false>},
    EmbedRow{"aten.prod.default", lower_fold<sf::ProductOf, false, false>},
    EmbedRow{"aten.prod.dim_int", lower_fold<sf::ProductOf, false, false>},
    EmbedRow{"aten.any.default", lower_fold<sf::AnyOf, false, true>},
    EmbedRow{"aten.any.dim", lower_fold<sf::AnyOf, false, true>},
    EmbedRow{"aten.any.dims", lower_fold<sf::AnyOf, false, true>},
    EmbedRow{"aten.amax.default", lower_extreme<true, true, false>},
    EmbedRow{"aten.amin.default", lower_extreme<false, true, false>},
    EmbedRow{"aten.argmax.default", lower_extreme<true, false, true>},
    EmbedRow{"aten.argmin.default", lower_extreme<false, false, true>},
    EmbedRow{"aten.max.default", lower_extreme<true, true, false>},
    EmbedRow{"aten.min.default", lower_extreme<false, true, false>},
    EmbedRow{"aten.max.dim", lower_extreme<true, true, true>},
    EmbedRow{"aten.min.dim", lower_extreme<false, true, true>},
    EmbedRow{"aten.cumsum.default", lower_scan<sf::SumOf>},
    EmbedRow{"aten.cumprod.default", lower_scan<sf::ProductOf>},
    EmbedRow{"aten.logcumsumexp.default", lower_log_scan},
    EmbedRow{"aten.cummax.default", lower_running_extreme<true>},
    EmbedRow{"aten.cummin.default", lower_running_extreme<false>},
    EmbedRow{"aten.sort.default", lower_ranked},
    EmbedRow{"aten.topk.default", lower_ranked},
};

}  // namespace davit::static_lowering
