// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "davit/lowering/impl/simplifier.ipp"
#include "davit/program/operators/movement.hpp"

namespace davit {

namespace detail {

DAVIT_INLINE bool Simplifier::rewrite(std::string_view target, const Node& node, ValueId out) {
  if (reshapes(target)) return reshape(target, node, out);
  if (target == "aten.permute.default" || target == "aten.transpose.int" || target == "aten.t.default") return permute(node, out);
  if (target == "aten.mm.default" || target == "aten.addmm.default" || target == "aten.bmm.default" || target == "aten.matmul.default") return product(target, node, out);
  if (target == "aten.add.Tensor") return add_bias(node, out);
  if (target == "aten.where.self") return choose(node);
  if (target == "aten.mul.Tensor") return multiply(node);
  if (target == "aten.div.Tensor") return divide(node);
  if (target == "aten.sum.dim_IntList") return sum(node);
  if (target == "aten._native_batch_norm_legit.no_stats") return normalize(node, out);
  if (target == "aten.slice.Tensor") return slice(node, out);
  if (target == "aten.flip.default") return flip(node, out);
  if (target != "aten.expand.default" && target != "aten._to_copy.default") return false;
  const std::span<const Argument> inputs = view().inputs(node);
  const ValueId x = inputs.empty() || !inputs[0].is_value() ? no_id : inputs[0].value();
  if (x == no_id || value(x).dtype != value(out).dtype || !same(sizes(x), sizes(out))) return false;
  return (target == "aten.expand.default" || shown_[out] == 0) && forward(out, x);
}

// -- how elements lie -------------------------------------------------------------------------------------------------

/// What is behind operators that leave elements in their order.
DAVIT_INLINE ValueId Simplifier::stripped(ValueId v) {
  while (v != no_id) {
    const NodeId n = value(v).producer;
    if (n == no_id || n < from_.nodes.size()) break;
    const std::string_view target = view().target(emit_.module().nodes[n]);
    const ValueId before = argument(n, 0);
    if (!reshapes(target) || before == no_id || value(before).dtype != value(v).dtype || value(v).graph != value(before).graph) break;
    if ((target.starts_with("aten.clone") || target.starts_with("aten.contiguous")) && (v >= shown_.size() || shown_[v] != 0)) break;
    v = before;
  }
  return v;
}

DAVIT_INLINE bool Simplifier::reshape(std::string_view target, const Node& node, ValueId out) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.empty() || !inputs[0].is_value()) return false;
  const ValueId x = inputs[0].value();
  if (value(x).dtype != value(out).dtype || value(x).kind != ValueKind::tensor) return false;
  if (target == "aten.clone.default" || target == "aten.contiguous.default") {
    return shown_[out] == 0 && forward(out, x);
  }
  const ValueId base = stripped(x);
  if (same(sizes(base), sizes(out))) return forward(out, base);
  if (fold_back(node, base, out) || select(node, base, out) || join(node, base, out)) return true;
  return base != x && lay(node, base, out);
}

/// The elements of `base` in the sizes of `out`.
DAVIT_INLINE bool Simplifier::lay(const Node& node, ValueId base, ValueId out) {
  const std::string_view target = view().target(node);
  std::vector<Argument> dims;
  for (const Dim& d : std::vector<Dim>(sizes(out).begin(), sizes(out).end())) dims.push_back(emit_.argument(emit_.item(d)));
  Item list;
  if (emit_.fault == nullptr) {
    std::vector<Item> items;
    for (const Argument& d : dims) items.push_back(Item::of(d));
    list = Item::list(std::move(items));
  } else {
    emit_.fault = nullptr;
    if (target != "aten.view.default" && target != "aten.reshape.default" && target != "aten._unsafe_view.default") return false;
    list = emit_.read(view().inputs(node)[1]);
  }
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(base))}, {"size", std::move(list)}};
  return replace(node, "aten.view.default", arguments);
}

/// The value of which `v` has the rows as one dimension: (lead..., n) for v of (rows, n).
DAVIT_INLINE ValueId Simplifier::rows_of(ValueId v, std::span<const Dim> lead) {
  const ValueId base = stripped(v);
  const std::span<const Dim> own = sizes(base);
  if (own.size() == lead.size() + 1 && same(own.first(lead.size()), lead) && same(own.back(), sizes(v).back())) return base;
  if (base == v) return no_id;
  TensorMeta meta{.dtype = value(v).dtype, .sizes = std::vector<Dim>(lead.begin(), lead.end())};
  meta.sizes.push_back(sizes(v).back());
  return reshaped(base, meta);
}
/// A new view; no_id if no value stands for one of its sizes.
DAVIT_INLINE ValueId Simplifier::reshaped(ValueId v, const TensorMeta& meta) {
  std::vector<Item> to;
  for (const Dim& d : meta.sizes) to.push_back(Item::of(emit_.argument(emit_.item(d))));
  if (std::exchange(emit_.fault, nullptr) != nullptr) return no_id;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(v))}, {"size", Item::list(std::move(to))}};
  return emit_.call("aten.view.default", arguments, {&meta, 1}, false).value();
}

/// view(product(view(x), w)) is a product of more dimensions.
DAVIT_INLINE bool Simplifier::fold_back(const Node& node, ValueId x, ValueId out) {
  const std::vector<Dim> to(sizes(out).begin(), sizes(out).end());
  if (to.size() < 3 || sizes(x).empty() || !same(to.back(), sizes(x).back())) return false;
  const std::span<const Dim> lead(to.data(), to.size() - 1);
  const auto tensor = [](ValueId v) { return Item::of(GraphBuilder::value(v)); };
  if (const NodeId n = maker(x, "aten.linear.default"); n != no_id && sizes(x).size() == 2) {
    const ValueId rows = rows_of(argument(n, 0), lead);
    if (rows == no_id) return false;
    std::vector<NamedItem> arguments{{"input", tensor(rows)}, {"weight", tensor(argument(n, 1))}};
    if (const ValueId bias = argument(n, 2); bias != no_id) arguments.push_back({"bias", tensor(bias)});
    return compose(node, "aten.linear.default", arguments);
  }
  if (const NodeId n = maker(x, "aten.mm.default"); n != no_id) {
    const ValueId rows = rows_of(argument(n, 0), lead);
    if (rows == no_id) return false;
    const NamedItem arguments[] = {{"self", tensor(rows)}, {"other", tensor(argument(n, 1))}};
    return compose(node, "aten.matmul.default", arguments);
  }
  if (const NodeId n = maker(x, "aten.bmm.default"); n != no_id && to.size() > 3) {
    // the batch dimensions were made one; an operand may have been expanded before
    const auto operand = [&](ValueId v) {
      const ValueId base = before(stripped(v), "aten.expand.default");
      const std::span<const Dim> own = sizes(base);
      if (own.size() > to.size() || own.size() < 2 || !same(own.last(2), sizes(v).last(2))) return no_id;
      for (std::size_t d = 0; d + 2 < own.size(); ++d)
        if (const Dim& whole = to[to.size() - own.size() + d]; !is(own[d], 1) && !same(own[d], whole)) return no_id;
      return base;
    };
    const ValueId a = operand(argument(n, 0));
    ValueId b = operand(argument(n, 1));
    if (b == no_id && maker(a, "aten._safe_softmax.default") != no_id) {  // of an attention: as the scores have it
      TensorMeta meta{.dtype = value(a).dtype, .sizes = to};
      std::ranges::copy(sizes(argument(n, 1)).last(2), meta.sizes.end() - 2);
      b = reshaped(argument(n, 1), meta);
    }
    return a != no_id && b != no_id && std::max(sizes(a).size(), sizes(b).size()) == to.size() && batched(node, a, b, out);
  }
  return false;
}

/// What was joined along the first dimension in other sizes: the elements follow each other all the same.
DAVIT_INLINE bool Simplifier::join(const Node& node, ValueId x, ValueId out) {
  const NodeId n = maker(x, "aten.cat.default");
  if (n == no_id || sizes(out).empty() || !used_once(x)) return false;
  const Node& cat = emit_.module().nodes[n];
  const Argument* const dim = view().find_input(cat, "dim");
  if ((dim != nullptr && dim->payload != 0) || !view().inputs(cat)[0].is_list()) return false;
  std::vector<Item> parts;
  std::int64_t total = 0;
  for (const Argument& part : view().args(view().inputs(cat)[0].items)) {
    const ValueId v = stripped(part.value());
    const std::span<const Dim> own = sizes(v);
    if (own.size() != sizes(out).size() || !own[0].is_static() || !same(own.subspan(1), sizes(out).subspan(1))) return false;
    total += own[0].value;
    parts.push_back(Item::of(GraphBuilder::value(v)));
  }
  if (!is(sizes(out)[0], total)) return false;
  const NamedItem arguments[] = {{"tensors", Item::list(std::move(parts))}, {"dim", Item::integer(0)}};
  return replace(node, "aten.cat.default", arguments);
}

/// A slice of one, without its dimension.
DAVIT_INLINE bool Simplifier::select(const Node& node, ValueId x, ValueId out) {
  const NodeId n = maker(x, "aten.slice.Tensor");
  if (n == no_id) return false;
  operators::SliceView slice;
  if (operators::read_slice(of(n), slice) || slice.selects || !is(sizes(x)[slice.dim], 1) || slice.start < 0) return false;
  std::vector<Dim> rest(sizes(slice.input).begin(), sizes(slice.input).end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(slice.dim));
  if (!same(rest, sizes(out))) return false;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(slice.input))},
                                 {"dim", Item::integer(static_cast<std::int64_t>(slice.dim))},
                                 {"index", Item::integer(slice.start)}};
  return replace(node, "aten.select.int", arguments);
}

/// Dimension d of the output is dimension [d] of the input; empty if that is not known.
DAVIT_INLINE std::vector<std::int64_t> Simplifier::permutation(std::string_view target, std::span<const Argument> inputs) {
  if (inputs.empty() || !inputs[0].is_value()) return {};
  const auto rank = static_cast<std::int64_t>(sizes(inputs[0].value()).size());
  const auto wrapped = [&](std::int64_t d) { return d < 0 ? d + rank : d; };
  std::vector<std::int64_t> from(static_cast<std::size_t>(rank));
  for (std::int64_t d = 0; d < rank; ++d) from[static_cast<std::size_t>(d)] = d;
  if (target == "aten.t.default") {
    std::ranges::reverse(from);
  } else if (target == "aten.transpose.int") {
    if (inputs.size() != 3 || inputs[1].kind != ArgumentKind::int_ || inputs[2].kind != ArgumentKind::int_ || rank == 0) return {};
    std::swap(from[static_cast<std::size_t>(wrapped(inputs[1].payload))], from[static_cast<std::size_t>(wrapped(inputs[2].payload))]);
  } else {
    if (inputs.size() != 2 || !inputs[1].is_list() || inputs[1].items.count != rank) return {};
    for (std::size_t d = 0; d < from.size(); ++d) from[d] = wrapped(view().args(inputs[1].items)[d].payload);
  }
  return from;
}

DAVIT_INLINE bool Simplifier::permute(const Node& node, ValueId out) {
  std::vector<std::int64_t> from = permutation(view().target(node), view().inputs(node));
  if (from.empty()) return false;
  ValueId x = view().inputs(node)[0].value();
  bool joined = false;
  for (const NodeId n = value(x).producer; n != no_id && n >= from_.nodes.size();) {
    const Node& before = emit_.module().nodes[n];
    if (view_kind(view().target(before)) != ViewKind::permute && view().target(before) != "aten.transpose.int" && view().target(before) != "aten.t.default") break;
    const std::vector<std::int64_t> first = permutation(view().target(before), view().inputs(before));
    if (first.empty()) break;
    for (std::int64_t& d : from) d = first[static_cast<std::size_t>(d)];
    x = argument(n, 0);
    joined = true;
    break;  // what is before is joined already
  }
  if (std::ranges::is_sorted(from)) return forward(out, x);
  std::int64_t last = -1;
  bool moves = false;  // more than dimensions of one
  for (const std::int64_t d : from) {
    if (is(sizes(x)[static_cast<std::size_t>(d)], 1)) continue;
    moves = moves || d < last;
    last = d;
  }
  if (!moves && from.size() > 2) {
    const ValueId base = stripped(x);
    return same(sizes(base), sizes(out)) ? forward(out, base) : fold_back(node, base, out) || lay(node, base, out);
  }
  if (!joined) return false;
  std::vector<Item> dims;
  for (const std::int64_t d : from) dims.push_back(Item::integer(d));
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(x))}, {"dims", Item::list(std::move(dims))}};
  return replace(node, "aten.permute.default", arguments);
}

DAVIT_INLINE bool Simplifier::slice(const Node& node, ValueId out) {
  const ValueId x = view().inputs(node)[0].is_value() ? view().inputs(node)[0].value() : no_id;
  if (x == no_id) return false;
  if (same(sizes(x), sizes(out))) {
    const Argument* const step = view().find_input(node, "step");
    return (step == nullptr || step->payload == 1) && forward(out, x);
  }
  // one row of what was turned round
  const NodeId n = maker(x, "aten.flip.default");
  if (n == no_id) return false;
  const Argument* const dim = view().find_input(node, "dim");
  const std::span<const Argument> turned = view().args(view().inputs(emit_.module().nodes[n])[1].items);
  const std::int64_t d = dim == nullptr ? 0 : dim->payload < 0 ? dim->payload + static_cast<std::int64_t>(sizes(x).size()) : dim->payload;
  const Argument* const start = view().find_input(node, "start");
  if (turned.size() != 1 || turned[0].payload != d || start == nullptr || start->kind != ArgumentKind::int_ || start->payload < 0) return false;
  const Dim& size = sizes(x)[static_cast<std::size_t>(d)];
  if (!size.is_static() || !is(sizes(out)[static_cast<std::size_t>(d)], 1)) return false;
  const std::int64_t at = size.value - 1 - start->payload;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(argument(n, 0)))}, {"dim", Item::integer(d)}, {"start", Item::integer(at)}, {"end", Item::integer(at + 1)}};
  return replace(node, "aten.slice.Tensor", arguments);
}

/// What was joined of parts of one each, turned round, is joined in the other order.
DAVIT_INLINE bool Simplifier::flip(const Node& node, ValueId out) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || inputs[1].items.count != 1) return false;
  const std::int64_t d = view().args(inputs[1].items)[0].payload;
  const ValueId whole = stripped(inputs[0].value());
  const NodeId n = maker(whole, "aten.cat.default");
  if (n == no_id || d != 0 || !used_once(whole)) return false;
  const std::span<const Argument> cat = view().inputs(emit_.module().nodes[n]);
  const Argument* const dim = view().find_input(emit_.module().nodes[n], "dim");
  if (!cat[0].is_list() || (dim != nullptr && dim->payload != 0) || !is(sizes(out)[0], cat[0].items.count)) return false;
  std::vector<Item> parts;
  for (const Argument& part : view().args(cat[0].items)) {
    if (!parts.empty() && !same(sizes(part.value()), sizes(parts[0].value()))) return false;
    parts.push_back(Item::of(GraphBuilder::value(part.value())));
  }
  std::ranges::reverse(parts);
  TensorMeta meta{.dtype = value(whole).dtype, .sizes = std::vector<Dim>(sizes(whole).begin(), sizes(whole).end())};
  const NamedItem arguments[] = {{"tensors", Item::list(std::move(parts))}, {"dim", Item::integer(0)}};
  const Item turned = emit_.call("aten.cat.default", arguments, {&meta, 1}, false);
  std::vector<Item> to;
  for (const Dim& size : sizes(out)) {
    if (!size.is_static()) return false;
    to.push_back(Item::integer(size.value));
  }
  const NamedItem shape[] = {{"self", turned}, {"size", Item::list(std::move(to))}};
  return replace(node, "aten.view.default", shape);
}

// -- products ---------------------------------------------------------------------------------------------------------

/// The matrix whose transpose a value is; no_id if it is none.
DAVIT_INLINE ValueId Simplifier::untransposed(ValueId v) {
  if (v == no_id || sizes(v).size() != 2) return no_id;
  const NodeId n = value(v).producer;
  if (n == no_id || n < from_.nodes.size()) return no_id;
  const Node& made = emit_.module().nodes[n];
  const ViewKind kind = view_kind(view().target(made));
  if (kind != ViewKind::permute && kind != ViewKind::transpose) return no_id;
  const std::vector<std::int64_t> from = permutation(view().target(made), view().inputs(made));
  return from == std::vector<std::int64_t>{1, 0} ? argument(n, 0) : no_id;
}

DAVIT_INLINE bool Simplifier::product(std::string_view target, const Node& node, ValueId out) {
  const auto tensor = [](ValueId v) { return Item::of(GraphBuilder::value(v)); };
  const std::span<const Argument> inputs = view().inputs(node);
  const auto value_at = [&](std::size_t i) { return i < inputs.size() && inputs[i].is_value() ? inputs[i].value() : no_id; };
  if (target == "aten.addmm.default") {
    const ValueId bias = value_at(0), x = value_at(1), weight = untransposed(value_at(2));
    if (inputs.size() != 3 || weight == no_id || x == no_id || bias == no_id || sizes(bias).size() != 1 || !same(sizes(bias)[0], sizes(out)[1])) return false;
    const NamedItem arguments[] = {{"input", tensor(x)}, {"weight", tensor(weight)}, {"bias", tensor(bias)}};
    return compose(node, "aten.linear.default", arguments);
  }
  const ValueId a = value_at(0), b = value_at(1);
  if (a == no_id || b == no_id) return false;
  if (target == "aten.bmm.default") {
    const ValueId one = before(stripped(b), "aten.expand.default");  // one matrix for all
    return batched(node, a, one != b && sizes(one).size() == 2 && same(sizes(one), sizes(b).last(2)) ? one : b, out);
  }
  if (target == "aten.matmul.default") return batched(node, a, b, out);
  const ValueId weight = untransposed(b);
  if (weight == no_id) return false;
  const NamedItem arguments[] = {{"input", tensor(a)}, {"weight", tensor(weight)}};
  return compose(node, "aten.linear.default", arguments);
}

/// A product of any ranks: by a constant, an attention's last, or as it is.
DAVIT_INLINE bool Simplifier::batched(const Node& node, ValueId a, ValueId b, ValueId out) {
  const auto tensor = [](ValueId v) { return Item::of(GraphBuilder::value(v)); };
  if (const ValueId weight = untransposed(b); weight != no_id && sizes(a).size() == sizes(out).size() && sizes(a).size() > 1) {
    const NamedItem arguments[] = {{"input", tensor(a)}, {"weight", tensor(weight)}};
    return compose(node, "aten.linear.default", arguments);
  }
  if (attention(node, a, b)) return true;
  const std::span<const Argument> inputs = view().inputs(node);
  const std::string_view target = view().target(node);
  if ((target == "aten.bmm.default" || target == "aten.matmul.default") && inputs[0].value() == a && inputs[1].value() == b) return false;
  const NamedItem arguments[] = {{"self", tensor(a)}, {"other", tensor(b)}};
  return compose(node, "aten.matmul.default", arguments);
}

/// softmax(q f (k f)^T + mask) v, where rows of which nothing is left are zero.
/// Source: torch's _scaled_dot_product_attention_math.
DAVIT_INLINE bool Simplifier::attention(const Node& node, ValueId p, ValueId v) {
  const NodeId softmax = maker(p, "aten._safe_softmax.default");
  if (softmax == no_id || !used_once(p) || sizes(p).size() < sizes(v).size()) return false;
  ValueId scores = argument(softmax, 0), mask = no_id;
  if (const NodeId sum = maker(scores, "aten.add.Tensor"); sum != no_id) {
    mask = argument(sum, 1);
    scores = argument(sum, 0);
    if (mask == no_id || value(mask).dtype != value(scores).dtype || view().inputs(emit_.module().nodes[sum]).size() != 2) return false;
  }
  NodeId n = maker(scores, "aten.matmul.default");
  if (n == no_id) n = maker(scores, "aten.bmm.default");
  if (n == no_id) return false;
  double factor = 1;
  const auto scaled = [&](ValueId x) {
    const NodeId by = maker(x, "aten.mul.Scalar");
    double f = 0;
    if (by == no_id || !operators::NodeArguments::read_number(view().inputs(emit_.module().nodes[by])[1], f)) return no_id;
    factor *= f;
    return argument(by, 0);
  };
  const ValueId q = scaled(argument(n, 0)), k = scaled(argument(n, 1));
  if (q == no_id || k == no_id || sizes(q).size() != sizes(k).size()) return false;
  if (sizes(v).size() < sizes(p).size()) {
    TensorMeta meta{.dtype = value(v).dtype, .sizes = std::vector<Dim>(sizes(p).size() - sizes(v).size(), Dim{1})};
    meta.sizes.insert(meta.sizes.end(), sizes(v).begin(), sizes(v).end());
    v = reshaped(v, meta);
  }
  if (v == no_id || sizes(q).size() != sizes(v).size()) return false;
  const std::size_t rank = sizes(k).size();
  std::vector<Item> dims;
  for (std::size_t d = 0; d < rank; ++d) dims.push_back(Item::integer(static_cast<std::int64_t>(d + 2 == rank ? d + 1 : d + 1 == rank ? d - 1 : d)));
  std::vector<std::int64_t> turn;
  for (const Item& d : dims) turn.push_back(d.argument.payload);
  TensorMeta meta{.dtype = value(k).dtype, .sizes = std::vector<Dim>(sizes(k).begin(), sizes(k).end())};
  std::swap(meta.sizes[rank - 2], meta.sizes[rank - 1]);
  // the keys as they were before they were transposed
  ValueId base = k;
  if (const NodeId before = maker(k, "aten.permute.default"); before != no_id) {
    const Node& made = emit_.module().nodes[before];
    const std::vector<std::int64_t> first = permutation("aten.permute.default", view().inputs(made));
    for (std::int64_t& d : turn) d = first[static_cast<std::size_t>(d)];
    base = argument(before, 0);
  }
  if (!std::ranges::is_sorted(turn)) {
    dims.clear();
    for (const std::int64_t d : turn) dims.push_back(Item::integer(d));
    const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(base))}, {"dims", Item::list(std::move(dims))}};
    base = emit_.call("aten.permute.default", arguments, {&meta, 1}, false).value();
  }
  const Dim width = sizes(q).back();
  const bool usual = width.is_static() && std::fabs(factor * std::sqrt(static_cast<double>(width.value)) - 1) < 1e-9;
  std::vector<NamedItem> arguments{{"query", Item::of(GraphBuilder::value(q))}, {"key", Item::of(GraphBuilder::value(base))}, {"value", Item::of(GraphBuilder::value(v))}};
  if (mask != no_id) arguments.push_back({"attn_mask", Item::of(GraphBuilder::value(mask))});
  if (!usual) arguments.push_back({"scale", Item::of(GraphBuilder::real(factor))});
  return compose(node, "aten.scaled_dot_product_attention.default", arguments, true);
}

DAVIT_INLINE bool Simplifier::add_bias(const Node& node, ValueId out) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || !inputs[1].is_value()) return false;
  const ValueId x = inputs[0].value(), bias = inputs[1].value();
  const NodeId n = maker(x, "aten.linear.default");
  if (n == no_id || !used_once(x) || argument(n, 2) != no_id || !is_constant(bias) || value(bias).dtype != value(x).dtype) return false;
  if (sizes(bias).size() != 1 || !same(sizes(bias)[0], sizes(x).back()) || !same(sizes(x), sizes(out))) return false;
  const NamedItem arguments[] = {{"input", Item::of(GraphBuilder::value(argument(n, 0)))}, {"weight", Item::of(GraphBuilder::value(argument(n, 1)))}, {"bias", Item::of(GraphBuilder::value(bias))}};
  return compose(node, "aten.linear.default", arguments);
}

/// A matrix times a vector.
DAVIT_INLINE bool Simplifier::sum(const Node& node) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || !inputs[1].is_list() || inputs[1].items.count != 1) return false;
  const ValueId x = inputs[0].value();
  const NodeId n = maker(x, "aten.mul.Tensor");
  const std::int64_t dim = view().args(inputs[1].items)[0].payload;
  if (n == no_id || !used_once(x) || sizes(x).size() != 2 || (dim != 1 && dim != -1) || value(x).dtype != ScalarType::float32) return false;
  const ValueId a = argument(n, 0), b = argument(n, 1);
  if (a == no_id || b == no_id || sizes(b).size() != 1 || !same(sizes(a), sizes(x)) || !same(sizes(b)[0], sizes(x)[1]) || value(a).dtype != value(b).dtype) return false;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(a))}, {"vec", Item::of(GraphBuilder::value(b))}};
  return compose(node, "aten.mv.default", arguments, true);
}

// -- functions and norms ----------------------------------------------------------------------------------------------

/// where(): a softmax whose lines may have nothing left, or an elu.
DAVIT_INLINE bool Simplifier::choose(const Node& node) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 3) return false;
  const ValueId condition = inputs[0].value(), yes = inputs[1].value(), no = inputs[2].value();
  const auto input = [&](NodeId n, std::size_t i) { return i < emit_.module().nodes[n].inputs.count ? &view().inputs(emit_.module().nodes[n])[i] : nullptr; };
  if (const NodeId softmax = maker(no, "aten._softmax.default"); softmax != no_id) {
    NodeId n = maker(condition, "aten.logical_not.default");
    const NodeId any = n == no_id ? no_id : maker(argument(n, 0), "aten.any.dim");
    n = any == no_id ? no_id : maker(argument(any, 0), "aten.logical_not.default");
    n = n == no_id ? no_id : maker(argument(n, 0), "aten.eq.Scalar");
    const NodeId zero = maker(yes, "aten.full_like.default");
    const ValueId x = argument(softmax, 0);
    if (n == no_id || zero == no_id || argument(n, 0) != x || !is_number(input(n, 1), -std::numeric_limits<double>::infinity()) || !is_number(input(zero, 1), 0)) return false;
    const std::int64_t dim = input(softmax, 1)->payload, rank = static_cast<std::int64_t>(sizes(x).size());
    if ((input(any, 1)->payload + rank) % rank != (dim + rank) % rank || !same(sizes(argument(any, 0)), sizes(x)) || !is(sizes(condition)[static_cast<std::size_t>((dim + rank) % rank)], 1)) return false;
    const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(x))}, {"dim", Item::integer(dim)}};
    return compose(node, "aten._safe_softmax.default", arguments, true);
  }
  // x > 0 ? x * scale : expm1(x * input_scale) * (alpha * scale)
  const NodeId above = maker(condition, "aten.gt.Scalar"), up = maker(yes, "aten.mul.Tensor"), down = maker(no, "aten.mul.Tensor");
  if (above == no_id || up == no_id || down == no_id || !is_number(input(above, 1), 0)) return false;
  const NodeId exp = maker(argument(down, 0), "aten.expm1.default");
  const NodeId in = exp == no_id ? no_id : maker(argument(exp, 0), "aten.mul.Tensor");
  const ValueId x = argument(above, 0);
  double alpha = 0, scale = 0, in_scale = 0;
  const auto read = operators::NodeArguments::read_number;
  if (in == no_id || argument(up, 0) != x || argument(in, 0) != x || !read(*input(up, 1), scale) || !read(*input(in, 1), in_scale) || !read(*input(down, 1), alpha) || scale == 0)
    return false;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(x))}, {"alpha", Item::of(GraphBuilder::real(alpha / scale))},
                                 {"scale", Item::of(GraphBuilder::real(scale))}, {"input_scale", Item::of(GraphBuilder::real(in_scale))}};
  return compose(node, "aten.elu.default", arguments);
}

DAVIT_INLINE bool Simplifier::multiply(const Node& node) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || !inputs[1].is_value()) return false;
  const ValueId a = inputs[0].value(), b = inputs[1].value();
  for (const auto& [x, gate] : {std::pair(a, b), std::pair(b, a)}) {
    const NodeId n = maker(gate, "aten.sigmoid.default");
    if (n == no_id || argument(n, 0) != x || !used_once(gate)) continue;
    const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(x))}};
    return compose(node, "aten.silu.default", arguments);
  }
  return false;
}

/// x * clamp(x + 3, 0, 6) / 6
DAVIT_INLINE bool Simplifier::divide(const Node& node) {
  const std::span<const Argument> inputs = view().inputs(node);
  const auto by = [&](NodeId n, std::size_t i) -> const Argument* {
    const std::span<const Argument> all = view().inputs(emit_.module().nodes[n]);
    return i < all.size() && all[i].kind != ArgumentKind::none ? &all[i] : nullptr;
  };
  if (inputs.size() != 2 || !inputs[0].is_value() || !is_number(&inputs[1], 6)) return false;
  const NodeId product = maker(inputs[0].value(), "aten.mul.Tensor");
  const NodeId high = product == no_id ? no_id : maker(argument(product, 1), "aten.clamp.default");
  const NodeId low = high == no_id ? no_id : maker(argument(high, 0), "aten.clamp.default");
  const NodeId sum = low == no_id ? no_id : maker(argument(low, 0), "aten.add.Tensor");
  if (sum == no_id || argument(sum, 0) != argument(product, 0) || !is_number(by(sum, 1), 3) || !is_number(by(low, 1), 0)) return false;
  const Argument* const most = view().find_input(emit_.module().nodes[high], "max");
  if (by(low, 2) != nullptr || !is_number(most, 6) || (by(high, 1) != most && by(high, 1) != nullptr)) return false;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(argument(sum, 0)))}};
  return compose(node, "aten.hardswish.default", arguments);
}

/// A batch norm over one item, each channel by its own statistics: an instance norm is written so.
DAVIT_INLINE bool Simplifier::normalize(const Node& node, ValueId out) {
  const std::span<const Argument> inputs = view().inputs(node), outputs = view().outputs(node);
  if (whole_ == nullptr || inputs.size() != 6 || !inputs[0].is_value()) return false;
  for (std::size_t i = 1; i < outputs.size(); ++i)
    if (outputs[i].is_value() && (uses_[outputs[i].value()] != 0 || is_output_[outputs[i].value()] != 0)) return false;
  const ValueId x = inputs[0].value();
  const std::span<const Dim> dims = sizes(x);
  std::int64_t inner = 1;
  for (const Dim& d : dims) {
    if (!d.is_static()) return false;
    inner *= &d - dims.data() < 2 ? 1 : d.value;
  }
  if (dims.size() < 3 || dims[0].value != 1 || inputs[5].kind != ArgumentKind::float_) return false;
  const std::int64_t channels = dims[1].value;
  std::vector<NamedItem> arguments{{"input", Item::of(inputs[0])}, {"weight", Item::of(inputs[1])}, {"bias", Item::of(inputs[2])}, {"N", Item::integer(1)},
                                   {"C", Item::integer(channels)}, {"HxW", Item::integer(inner)}, {"group", Item::integer(channels)}, {"eps", Item::of(inputs[5])}};
  std::vector<TensorMeta> metas{{.dtype = value(out).dtype, .sizes = std::vector<Dim>(dims.begin(), dims.end())}};
  metas.resize(3, {.dtype = value(out).dtype, .sizes = {Dim{1}, Dim{channels}}});
  const GraphEmitter::Mark mark = emit_.mark();
  const ValueId made = emit_.call("aten.native_group_norm.default", arguments, metas, true).items[0].value();
  if (taker_of(static_cast<NodeId>(emit_.mark().nodes - 1)) < taker_count(*whole_)) return forward(out, made);
  emit_.roll_back(mark);
  return false;
}

}  // namespace detail

DAVIT_INLINE std::optional<ExportedProgram> simplified(const ExportedProgram& program, const DecomposeOptions* whole, bool before) {
  const GraphModuleView graph = program.view();
  if (std::ranges::none_of(graph.nodes, [&](const Node& n) { return detail::is_simple(graph.target(n)); }) || storage_matters(graph)) return std::nullopt;
  ExportedProgram out = program;
  out.graph_module = detail::Simplifier(program, whole, before).run();
  return out;
}

}  // namespace davit
