// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "davit/backends/portable/static/embed_mapped.hpp"
#include "davit/backends/portable/static/embed_moves.hpp"
#include "davit/backends/portable/static/fold.hpp"
#include "davit/program/operators/reduction.hpp"

/// Reductions, scans and orders of elements of any type, of portable's static face.
namespace davit::static_lowering {

template <class Op, bool Mean = false>
struct fold {
  using Params = sf::Reduce;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, R* y, const T* x) noexcept {
    sf::fold<Op, Mean>(p, x, y);
  }
};
template <class Op>
struct scan {
  using Params = sf::Rows;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, const T* x) noexcept {
    sf::scan<Op>(p, x, y);
  }
};
template <bool Largest>
struct running_extreme {
  using Params = sf::Rows;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* values, std::int64_t* indices, const T* x) noexcept {
    sf::running_extreme<Largest>(p, x, values, indices);
  }
};
struct ranked {
  using Params = sf::Ranked;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* values, std::int64_t* indices, const T* x) noexcept {
    sf::ranked(p, x, values, indices);
  }
};

/// What a reduction answers: elements of the result's type, in which it computes; a bool.
template <class Op, bool Mean, bool Truth>
constexpr const char* embed_fold(const EmbedNode& n, StepWriter& steps) {
  operators::ReductionView v;
  if (const operators::Refusal wrong = operators::read_reduction(n, v)) return wrong.what;
  sf::Reduce p;
  if (const char* why = reduced(n, v, p)) return why;
  const ScalarType type = n.g.dtype(n.output());
  if (!is_computed(n.g.dtype(v.input)) || !is_computed(type)) return "elements of this type are not computed with";
  if (Truth) {
    if (type != ScalarType::bool_) return "its result is of an unexpected element type";
    steps.step<fold<Op, Mean>>(p).out(n.output()).in(v.input);
    return nullptr;
  }
  const ReadAs read = read_as(n, steps, v.input, type);
  StepOperands step = steps.step<fold<Op, Mean>>(p);
  step.out(n.output());
  read.to(step);
  return nullptr;
}
/// amax, argmax, and the two outputs of max.dim; max and min over all.
template <bool Largest, bool Values, bool Places>
constexpr const char* embed_extreme(const EmbedNode& n, StepWriter& steps) {
  operators::ReductionView v;
  if (const operators::Refusal wrong = operators::read_reduction(n, v)) return wrong.what;
  sf::Reduce p;
  if (const char* why = reduced(n, v, p)) return why;
  if (!is_computed(n.g.dtype(v.input))) return "elements of this type are not computed with";
  if (Values && n.g.dtype(n.output()) != n.g.dtype(v.input)) return "its result is of an unexpected element type";
  if (Values) steps.step<extreme<Largest>>(p).out(n.output()).in(v.input);
  if (Places && n.output(Values ? 1 : 0) != no_id)
    steps.step<arg_extreme<Largest>>(p).out(n.output(Values ? 1 : 0)).in(v.input);
  return nullptr;
}

/// Rows along the dimension that the parameter names.
constexpr const char* read_rows(const EmbedNode& n, ValueId x, operators::Parameter parameter, std::int64_t otherwise,
                                sf::Rows& rows) {
  if (x == no_id || n.output() == no_id) return "an operand is missing";
  if (n.g.numel(x) == 0) return "a tensor has no elements";
  std::int64_t dim = 0;
  const std::uint32_t rank = n.g.rank(x);
  if (!operators::read_integer(n, parameter, otherwise, dim) || !wrap_dim(dim, rank))
    return "its dimension is not known";
  if (!is_computed(n.g.dtype(x))) return "elements of this type are not computed with";
  for (std::uint32_t d = 0; d < rank; ++d)
    (d < dim ? rows.outer : d == dim ? rows.count : rows.inner) *= int32(n.size(x, d));
  return nullptr;
}
template <class Op>
constexpr const char* embed_scan(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  sf::Rows rows;
  if (const char* why = read_rows(n, x, {"dim", 1}, 0, rows)) return why;
  if (!is_computed(n.g.dtype(n.output()))) return "elements of this type are not computed with";
  const ReadAs read = read_as(n, steps, x, n.g.dtype(n.output()));
  StepOperands step = steps.step<scan<Op>>(rows);
  step.out(n.output());
  read.to(step);
  return nullptr;
}
constexpr const char* embed_log_scan(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  const bool is_float = x != no_id && is_floating(n.g.dtype(x)) && n.g.dtype(x) != ScalarType::float64;
  return is_float ? embed_scan<sf::LogSumOf>(n, steps) : "it is of integers or float64";
}
/// cummax and cummin.
template <bool Largest>
constexpr const char* embed_running_extreme(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  sf::Rows rows;
  if (const char* why = read_rows(n, x, {"dim", 1}, 0, rows)) return why;
  if (n.output(1) == no_id) return "it has no second output";
  steps.step<running_extreme<Largest>>(rows).out(n.output()).out(n.output(1)).in(x);
  return nullptr;
}
/// sort and topk.
constexpr const char* embed_ranked(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  const bool sorts = n.is("aten.sort.default");
  sf::Ranked p;
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
  steps.step<ranked>(p).out(n.output()).out(n.output(1)).in(x);
  return nullptr;
}

using fold_kernels =
    kernel_list<fold<sf::SumOf>, fold<sf::SumOf, true>, fold<sf::ProductOf>, fold<sf::AnyOf>, scan<sf::SumOf>,
                scan<sf::ProductOf>, scan<sf::LogSumOf>, running_extreme<true>, running_extreme<false>, ranked>;

inline constexpr std::array fold_rows{
    EmbedRow{"aten.sum.default", embed_fold<sf::SumOf, false, false>},
    EmbedRow{"aten.sum.dim_IntList", embed_fold<sf::SumOf, false, false>},
    EmbedRow{"aten.mean.default", embed_fold<sf::SumOf, true, false>},
    EmbedRow{"aten.mean.dim", embed_fold<sf::SumOf, true, false>},
    EmbedRow{"aten.prod.default", embed_fold<sf::ProductOf, false, false>},
    EmbedRow{"aten.prod.dim_int", embed_fold<sf::ProductOf, false, false>},
    EmbedRow{"aten.any.default", embed_fold<sf::AnyOf, false, true>},
    EmbedRow{"aten.any.dim", embed_fold<sf::AnyOf, false, true>},
    EmbedRow{"aten.any.dims", embed_fold<sf::AnyOf, false, true>},
    EmbedRow{"aten.amax.default", embed_extreme<true, true, false>},
    EmbedRow{"aten.amin.default", embed_extreme<false, true, false>},
    EmbedRow{"aten.argmax.default", embed_extreme<true, false, true>},
    EmbedRow{"aten.argmin.default", embed_extreme<false, false, true>},
    EmbedRow{"aten.max.default", embed_extreme<true, true, false>},
    EmbedRow{"aten.min.default", embed_extreme<false, true, false>},
    EmbedRow{"aten.max.dim", embed_extreme<true, true, true>},
    EmbedRow{"aten.min.dim", embed_extreme<false, true, true>},
    EmbedRow{"aten.cumsum.default", embed_scan<sf::SumOf>},
    EmbedRow{"aten.cumprod.default", embed_scan<sf::ProductOf>},
    EmbedRow{"aten.logcumsumexp.default", embed_log_scan},
    EmbedRow{"aten.cummax.default", embed_running_extreme<true>},
    EmbedRow{"aten.cummin.default", embed_running_extreme<false>},
    EmbedRow{"aten.sort.default", embed_ranked},
    EmbedRow{"aten.topk.default", embed_ranked},
};

}  // namespace davit::static_lowering
