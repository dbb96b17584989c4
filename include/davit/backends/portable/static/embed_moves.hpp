// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/portable/static/embed_layers.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/reduction.hpp"

/// What moves elements or reduces dimensions, of portable's static face.
namespace davit::static_lowering {

/// The row-major strides of a value.
[[nodiscard]] constexpr std::vector<std::int64_t> strides_of(const EmbedGraph& g, ValueId v) {
  std::vector<std::int64_t> strides(g.rank(v), 1);
  for (std::size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * g.size(v, static_cast<std::int64_t>(d));
  return strides;
}

/// A new shape of the same elements.
constexpr const char* embed_view(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value(n.argument("self") != nullptr ? "self" : "input");
  if (x == no_id || n.output() == no_id) return "an operand is missing";
  if (n.g.dtype(x) != n.g.dtype(n.output())) return "it changes the element type";
  if (n.g.numel(x) != n.g.numel(n.output())) return "it changes the number of elements";
  steps.alias(n.output(), x);
  return nullptr;
}
constexpr const char* embed_dropout(const EmbedNode& n, StepWriter& steps) {
  return n.flag("train") ? "it trains" : embed_view(n, steps);
}

/// Writes the step of a walk over `x`, or an alias if the walk meets every element in order.
constexpr const char* write_copy(const EmbedNode& n, StepWriter& steps, ValueId x, const sf::StridedCopy& copy) {
  const bool in_order =
      copy.from == 0 && (copy.walk.rank == 0 || (copy.walk.rank == 1 && copy.walk.strides[0][0] == 1));
  if (in_order && n.g.numel(x) == n.g.numel(n.output())) {
    steps.alias(n.output(), x);
  } else {
    steps.step<strided_copy>(copy).out(n.output()).in(x);
  }
  return nullptr;
}
[[nodiscard]] constexpr const char* not_movable(const EmbedNode& n, ValueId x) noexcept {
  if (x == no_id || n.output() == no_id) return "an operand is missing";
  if (n.g.dtype(x) != n.g.dtype(n.output()) || n.g.dtype(x) == ScalarType::undefined)
    return "it changes the element type";
  if (is_output_inner(n, x) && !n.g.is_probing()) return "its input is laid out for a linear";
  return n.g.numel(n.output()) == 0 ? "a tensor has no elements" : nullptr;
}
inline constexpr const char* too_many_dims = "it moves more than 6 dimensions";

constexpr const char* embed_permute(const EmbedNode& n, StepWriter& steps) {
  operators::PermutationView v;
  if (const operators::Refusal wrong = operators::read_permutation(n, v)) return wrong.what;
  const ValueId x = v.input;
  if (const char* why = not_movable(n, x)) return why;
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  for (std::size_t d = 0; d < v.rank; ++d)
    if (!copy.push(n.size(n.output(), d), from[v.from[d]], to[d])) return too_many_dims;
  return write_copy(n, steps, x, copy);
}
constexpr const char* embed_expand(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (const char* why = not_movable(n, x)) return why;
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  const std::uint32_t added = n.g.rank(n.output()) - n.g.rank(x);
  sf::StridedCopy copy;
  for (std::uint32_t d = 0; d < to.size(); ++d) {
    const bool repeats = d < added || n.g.size(x, d - added) == 1;
    if (!copy.push(n.g.size(n.output(), d), repeats ? 0 : from[d - added], to[d])) return too_many_dims;
  }
  return write_copy(n, steps, x, copy);
}
/// slice.Tensor and select.int.
constexpr const char* embed_slice(const EmbedNode& n, StepWriter& steps) {
  operators::SliceView v;
  if (const operators::Refusal wrong = operators::read_slice(n, v)) return wrong.what;
  const ValueId x = v.input;
  if (const char* why = not_movable(n, x)) return why;
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  copy.from = int32(v.start * from[v.dim]);
  for (std::size_t d = 0, o = 0; d < n.g.rank(x); ++d) {
    if (v.selects && d == v.dim) continue;
    if (!copy.push(n.size(n.output(), o), from[d] * (d == v.dim ? v.step : 1), to[o])) return too_many_dims;
    ++o;
  }
  return write_copy(n, steps, x, copy);
}
constexpr const char* embed_cat(const EmbedNode& n, StepWriter& steps) {
  if (n.output() == no_id) return "an operand is missing";
  const std::uint32_t rank = n.g.rank(n.output());
  std::size_t dim = 0;
  if (const operators::Refusal wrong = operators::read_cat(n, rank, dim)) return wrong.what;
  const std::vector<std::int64_t> to = strides_of(n.g, n.output());
  std::int64_t at = 0;
  for (const StaticArgument& item : n.items("tensors")) {
    const ValueId x = item.is_value() ? item.value() : no_id;
    if (const char* why = not_movable(n, x)) return why;
    if (n.g.rank(x) != rank) return "its tensors have different ranks";
    const std::vector<std::int64_t> from = strides_of(n.g, x);
    sf::StridedCopy copy;
    copy.to = int32(at * to[dim]);
    for (std::size_t d = 0; d < rank; ++d)
      if (!copy.push(n.size(x, d), from[d], to[d])) return too_many_dims;
    if (n.g.numel(x) != 0) steps.step<strided_copy>(copy).out(n.output()).in(x);
    at += n.size(x, dim);
  }
  return nullptr;
}

/// constant_pad_nd: a fill, then the elements.
constexpr const char* embed_pad(const EmbedNode& n, StepWriter& steps) {
  operators::PadView v;
  if (const operators::Refusal wrong = operators::read_pad(n, v)) return wrong.what;
  const ValueId x = v.input;
  if (const char* why = not_movable(n, x)) return why;
  if (const char* why = not_float(n, x)) return why;
  if (n.g.numel(x) == 0) return "a tensor has no elements";
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  for (std::size_t d = 0; d < v.rank; ++d) {
    if (v.before[d] < 0 || v.after[d] < 0) return "its padding is negative";
    copy.to += int32(v.before[d] * to[d]);
    if (!copy.push(n.size(x, d), from[d], to[d])) return too_many_dims;
  }
  steps.step<fill>({int32(n.g.numel(n.output())), static_cast<float>(v.value)}).out(n.output());
  steps.step<strided_copy>(copy).out(n.output()).in(x);
  return nullptr;
}

/// The walks of a reduction.
constexpr const char* reduced(const EmbedNode& n, const operators::ReductionView& v, sf::Reduce& p) {
  if (n.output() == no_id) return "it has no output";
  if (n.g.numel(v.input) == 0) return "a tensor has no elements";
  const std::vector<std::int64_t> strides = strides_of(n.g, v.input);
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (!(v.reduces(d) ? p.group : p.kept).push(n.size(v.input, d), {strides[d]})) return too_many_dims;
  return nullptr;
}
/// Reductions over `dim`: all dimensions if it is absent or empty.
template <class Kernel>
constexpr const char* embed_reduce(const EmbedNode& n, StepWriter& steps) {
  operators::ReductionView v;
  if (const operators::Refusal wrong = operators::read_reduction(n, v)) return wrong.what;
  const ValueId x = v.input;
  if (n.output() == no_id || n.g.dtype(x) != ScalarType::float32) return "not all of it is float32";
  sf::Reduce p;
  if (const char* why = reduced(n, v, p)) return why;
  steps.step<Kernel>(p).out(n.output()).in(x);
  return nullptr;
}
template <class Kernel>
constexpr const char* lower_reduction(const EmbedNode& n, StepWriter& steps) {
  if (n.output() == no_id || n.g.dtype(n.output()) != ScalarType::float32) return "not all of it is float32";
  return embed_reduce<Kernel>(n, steps);
}
constexpr const char* embed_embedding(const EmbedNode& n, StepWriter& steps) {
  const ValueId table = n.value("weight"), indices = n.value("indices");
  if (indices == no_id) return "an operand is missing";
  if (const char* why = not_float(n, table)) return why;
  if (n.g.dtype(indices) != ScalarType::int64 && n.g.dtype(indices) != ScalarType::int32)
    return "its indices are no int64 or int32";
  steps.step<embedding>({int32(n.g.numel(indices)), int32(n.g.size(table, 0)), int32(n.g.size(table, 1))})
      .out(n.output())
      .in(table)
      .in(indices);
  return nullptr;
}

using move_kernels = kernel_list<strided_copy, fill, sum, mean, extreme<true>, extreme<false>, arg_extreme<true>,
                                 arg_extreme<false>, embedding>;

inline constexpr std::array move_rows{
    EmbedRow{"aten.view.default", embed_view},
    EmbedRow{"aten._unsafe_view.default", embed_view},
    EmbedRow{"aten.view_copy.default", embed_view},
    EmbedRow{"aten.reshape.default", embed_view},
    EmbedRow{"aten.flatten.using_ints", embed_view},
    EmbedRow{"aten.unsqueeze.default", embed_view},
    EmbedRow{"aten.squeeze.default", embed_view},
    EmbedRow{"aten.squeeze.dim", embed_view},
    EmbedRow{"aten.squeeze.dims", embed_view},
    EmbedRow{"aten.clone.default", embed_view},
    EmbedRow{"aten.contiguous.default", embed_view},
    EmbedRow{"aten.alias.default", embed_view},
    EmbedRow{"aten.detach.default", embed_view},
    EmbedRow{"aten.lift_fresh_copy.default", embed_view},
    EmbedRow{"aten.dropout.default", embed_dropout},
    EmbedRow{"aten.permute.default", embed_permute},
    EmbedRow{"aten.transpose.int", embed_permute},
    EmbedRow{"aten.t.default", embed_permute},
    EmbedRow{"aten.expand.default", embed_expand},
    EmbedRow{"aten.slice.Tensor", embed_slice},
    EmbedRow{"aten.slice_copy.Tensor", embed_slice},
    EmbedRow{"aten.select.int", embed_slice},
    EmbedRow{"aten.cat.default", embed_cat},
    EmbedRow{"aten.constant_pad_nd.default", embed_pad},
    EmbedRow{"aten.sum.dim_IntList", lower_reduction<sum>},
    EmbedRow{"aten.mean.dim", lower_reduction<mean>},
    EmbedRow{"aten.mean.default", lower_reduction<mean>},
    EmbedRow{"aten.amax.default", lower_reduction<extreme<true>>},
    EmbedRow{"aten.amin.default", lower_reduction<extreme<false>>},
    EmbedRow{"aten.argmax.default", embed_reduce<arg_extreme<true>>},
    EmbedRow{"aten.argmin.default", embed_reduce<arg_extreme<false>>},
    EmbedRow{"aten.embedding.default", embed_embedding},
};

}  // namespace davit::static_lowering
