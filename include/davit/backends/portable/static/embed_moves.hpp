// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/portable/static/embed_layers.hpp"
#include "davit/program/operators/reduction.hpp"

/// What moves elements or reduces dimensions, of portable's static face.
namespace davit::embed_float {

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
  const bool in_order = copy.from == 0 && (copy.rank == 0 || (copy.rank == 1 && copy.from_strides[0] == 1));
  if (in_order && n.g.numel(x) == n.g.numel(n.output())) {
    steps.alias(n.output(), x);
  } else {
    steps.step<strided_copy>(copy).out(n.output()).in(x);
  }
  return nullptr;
}
[[nodiscard]] constexpr const char* not_movable(const EmbedNode& n, ValueId x) noexcept {
  if (x == no_id || n.output() == no_id) return "an operand is missing";
  if (n.g.dtype(x) != n.g.dtype(n.output()) || n.g.dtype(x) == ScalarType::undefined) return "it changes the element type";
  if (is_output_inner(n, x) && !n.g.is_trial()) return "its input is laid out for a linear";
  return n.g.numel(n.output()) == 0 ? "a tensor has no elements" : nullptr;
}
inline constexpr const char* too_many_dims = "it moves more than 6 dimensions";

constexpr const char* embed_permute(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (const char* why = not_movable(n, x)) return why;
  const auto rank = static_cast<std::int64_t>(n.g.rank(x));
  std::vector<std::int64_t> order;
  for (std::int64_t d = 0; d < rank; ++d) order.push_back(d);
  if (n.is("aten.permute.default")) {
    const std::span<const StaticArgument> dims = n.items("dims");
    if (dims.size() != order.size()) return "its dims are missing";
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = (n.integer_of(dims[d]) + rank) % rank;
  } else if (rank > 1) {
    const bool t = n.is("aten.t.default");
    const std::int64_t a = t ? 0 : (n.integer("dim0") + rank) % rank, b = t ? 1 : (n.integer("dim1") + rank) % rank;
    std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
  }
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  for (std::size_t d = 0; d < order.size(); ++d)
    if (!copy.push(n.g.size(n.output(), static_cast<std::int64_t>(d)), from[static_cast<std::size_t>(order[d])], to[d])) return too_many_dims;
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
  const ValueId x = n.value("self");
  if (const char* why = not_movable(n, x)) return why;
  const auto rank = static_cast<std::int64_t>(n.g.rank(x));
  if (rank == 0) return "it has no dimension";
  const std::int64_t dim = (n.integer("dim") + rank) % rank, size = n.g.size(x, dim);
  const bool select = n.is("aten.select.int");
  std::int64_t start = select ? n.integer("index") : n.integer("start");
  if (start < 0) start += size;
  start = start < 0 ? 0 : start > size ? size : start;
  const std::int64_t step = select ? 1 : n.integer("step", 1);
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  copy.from = int32(start * from[static_cast<std::size_t>(dim)]);
  for (std::int64_t d = 0, o = 0; d < rank; ++d) {
    if (select && d == dim) continue;
    const std::int64_t stride = from[static_cast<std::size_t>(d)] * (d == dim ? step : 1);
    if (!copy.push(n.g.size(n.output(), o), stride, to[static_cast<std::size_t>(o)])) return too_many_dims;
    ++o;
  }
  return write_copy(n, steps, x, copy);
}
constexpr const char* embed_cat(const EmbedNode& n, StepWriter& steps) {
  if (n.count("tensors") == 0 || n.output() == no_id) return "an operand is missing";
  const auto rank = static_cast<std::int64_t>(n.g.rank(n.output()));
  if (rank == 0) return "it has no dimension";
  const std::int64_t dim = (n.integer("dim") + rank) % rank;
  const std::vector<std::int64_t> to = strides_of(n.g, n.output());
  std::int64_t at = 0;
  for (const StaticArgument& item : n.items("tensors")) {
    const ValueId x = item.value();
    if (const char* why = not_movable(n, x)) return why;
    if (n.g.rank(x) != rank) return "its tensors have different ranks";
    const std::vector<std::int64_t> from = strides_of(n.g, x);
    sf::StridedCopy copy;
    copy.to = int32(at * to[static_cast<std::size_t>(dim)]);
    for (std::int64_t d = 0; d < rank; ++d)
      if (!copy.push(n.g.size(x, d), from[static_cast<std::size_t>(d)], to[static_cast<std::size_t>(d)])) return too_many_dims;
    if (n.g.numel(x) != 0) steps.step<strided_copy>(copy).out(n.output()).in(x);
    at += n.g.size(x, dim);
  }
  return nullptr;
}

/// constant_pad_nd: a fill, then the elements.
constexpr const char* embed_pad(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (const char* why = not_movable(n, x)) return why;
  if (const char* why = not_float(n, x)) return why;
  const std::uint32_t rank = n.g.rank(x);
  const std::span<const StaticArgument> pads = n.items("pad");
  if (pads.size() > 2 * rank || n.g.numel(x) == 0) return "its padding does not fit";
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  for (std::uint32_t d = 0; d < rank; ++d) {
    const std::uint32_t at = 2 * (rank - 1 - d);  // from the last dimension
    const auto pad = [&](std::uint32_t i) { return i < pads.size() ? n.integer_of(pads[i]) : 0; };
    if (pad(at) < 0 || pad(at + 1) < 0) return "its padding is negative";
    copy.to += int32(pad(at) * to[d]);
    if (!copy.push(n.g.size(x, d), from[d], to[d])) return too_many_dims;
  }
  steps.step<fill>({int32(n.g.numel(n.output())), static_cast<float>(n.number("value"))}).out(n.output());
  steps.step<strided_copy>(copy).out(n.output()).in(x);
  return nullptr;
}

/// Reductions over `dim`: all dimensions if it is absent or empty.
template <class Kernel>
constexpr const char* embed_reduce(const EmbedNode& n, StepWriter& steps) {
  operators::ReductionView v;
  if (const operators::Refusal wrong = operators::read_reduction(n, v)) return wrong.what;
  const ValueId x = v.input;
  if (n.output() == no_id || n.g.dtype(x) != ScalarType::float32) return "not all of it is float32";
  if (n.g.numel(x) == 0) return "a tensor has no elements";
  const std::vector<std::int64_t> strides = strides_of(n.g, x);
  sf::Reduce p;
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (!(v.reduces(d) ? p.group : p.kept).push(n.g.size(x, static_cast<std::int64_t>(d)), strides[d])) return too_many_dims;
  steps.step<Kernel>(p).out(n.output()).in(x);
  return nullptr;
}
template <class Kernel>
constexpr const char* embed_float_reduce(const EmbedNode& n, StepWriter& steps) {
  if (n.output() == no_id || n.g.dtype(n.output()) != ScalarType::float32) return "not all of it is float32";
  return embed_reduce<Kernel>(n, steps);
}
constexpr const char* embed_embedding(const EmbedNode& n, StepWriter& steps) {
  const ValueId table = n.value("weight"), indices = n.value("indices");
  if (indices == no_id) return "an operand is missing";
  if (const char* why = not_float(n, table)) return why;
  if (n.g.dtype(indices) != ScalarType::int64 && n.g.dtype(indices) != ScalarType::int32) return "its indices are no int64 or int32";
  steps.step<embedding>({int32(n.g.numel(indices)), int32(n.g.size(table, 0)), int32(n.g.size(table, 1))})
      .out(n.output()).in(table).in(indices);
  return nullptr;
}

using move_kernels = kernel_list<strided_copy, fill, sum, mean, extreme<true>, extreme<false>, arg_extreme<true>, arg_extreme<false>, embedding>;

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
    EmbedRow{"aten.detach_.default", embed_view},
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
    EmbedRow{"aten.sum.dim_IntList", embed_float_reduce<sum>},
    EmbedRow{"aten.mean.dim", embed_float_reduce<mean>},
    EmbedRow{"aten.mean.default", embed_float_reduce<mean>},
    EmbedRow{"aten.amax.default", embed_float_reduce<extreme<true>>},
    EmbedRow{"aten.amin.default", embed_float_reduce<extreme<false>>},
    EmbedRow{"aten.argmax.default", embed_reduce<arg_extreme<true>>},
    EmbedRow{"aten.argmin.default", embed_reduce<arg_extreme<false>>},
    EmbedRow{"aten.embedding.default", embed_embedding},
};

}  // namespace davit::embed_float
