// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "davit/lowering/impl/simplifier.ipp"
#include "davit/lowering/impl/well_formed.ipp"
#include "davit/program/operators/movement.hpp"

namespace davit {

namespace detail {

constinit const Simplifier::Rewrite Simplifier::rewrites[] = {
    {"aten._native_batch_norm_legit.no_stats", true,
     [](auto& s, auto, auto& n, auto out) { return s.normalize(n, out); }},
    {"aten._to_copy.default", false, [](auto& s, auto, auto& n, auto out) { return s.drop_same(n, out, true); }},
    {"aten._unsafe_index.Tensor", true, [](auto& s, auto, auto& n, auto out) { return s.gather(n, out); }},
    {"aten.add.Tensor", false,
     [](auto& s, auto, auto& n, auto out) {
       return s.add_bias(n, out) || s.interpolate(n, out) || s.broadcast(n, out);
     }},
    {"aten.addmm.default", true, [](auto& s, auto t, auto& n, auto out) { return s.product(t, n, out); }},
    {"aten.bmm.default", true, [](auto& s, auto t, auto& n, auto out) { return s.product(t, n, out); }},
    {"aten.cat.default", false, [](auto& s, auto, auto& n, auto out) { return s.joined(n, out); }},
    {"aten.copy.default", true, [](auto& s, auto t, auto& n, auto out) { return s.overwrite(t, n, out); }},
    {"aten.div.Tensor", false,
     [](auto& s, auto t, auto& n, auto out) { return s.neutral(t, n, out) || s.divide(n) || s.broadcast(n, out); }},
    {"aten.expand.default", true, [](auto& s, auto, auto& n, auto out) { return s.drop_same(n, out, false); }},
    {"aten.flip.default", true, [](auto& s, auto, auto& n, auto out) { return s.flip(n, out); }},
    {"aten.full_like.default", true, [](auto& s, auto, auto& n, auto out) { return s.fill(n, out); }},
    {"aten.index.Tensor", true, [](auto& s, auto, auto& n, auto out) { return s.gather(n, out); }},
    {"aten.matmul.default", false, [](auto& s, auto t, auto& n, auto out) { return s.product(t, n, out); }},
    {"aten.mm.default", true, [](auto& s, auto t, auto& n, auto out) { return s.product(t, n, out); }},
    {"aten.mul.Tensor", false,
     [](auto& s, auto t, auto& n, auto out) { return s.neutral(t, n, out) || s.multiply(n) || s.broadcast(n, out); }},
    {"aten.ones.default", true, [](auto& s, auto, auto& n, auto out) { return s.fill(n, out); }},
    {"aten.ones_like.default", true, [](auto& s, auto, auto& n, auto out) { return s.fill(n, out); }},
    {"aten.slice.Tensor", false, [](auto& s, auto, auto& n, auto out) { return s.slice(n, out); }},
    {"aten.slice_scatter.default", true, [](auto& s, auto t, auto& n, auto out) { return s.overwrite(t, n, out); }},
    {"aten.sub.Scalar", false,
     [](auto& s, auto t, auto& n, auto out) { return s.neutral(t, n, out) || s.broadcast(n, out); }},
    {"aten.sub.Tensor", false,
     [](auto& s, auto t, auto& n, auto out) { return s.neutral(t, n, out) || s.broadcast(n, out); }},
    {"aten.sum.dim_IntList", false, [](auto& s, auto, auto& n, auto) { return s.sum(n); }},
    {"aten.sym_size.int", false, [](auto& s, auto, auto& n, auto out) { return s.size(n, out); }},
    {"aten.where.self", true, [](auto& s, auto, auto& n, auto) { return s.choose(n) || s.choose_numbers(n); }},
    {"aten.zeros.default", true, [](auto& s, auto, auto& n, auto out) { return s.fill(n, out); }},
    {"aten.zeros_like.default", true, [](auto& s, auto, auto& n, auto out) { return s.fill(n, out); }},
};

bool Simplifier::is_worth_a_pass(const operators::NodeArguments& call) noexcept {
  const std::string_view target = call.call().target;
  return std::ranges::any_of(rewrites, [&](const Rewrite& row) { return row.alone && row.target == target; }) ||
         operators::find_row(operators::permutation_operators, call) != nullptr ||
         operators::find_same_elements(call) != nullptr;
}

bool Simplifier::rewrite(std::string_view target, const Node& node, ValueId out) {
  if (const auto* const op = operators::find_same_elements(of(node))) return reshape(*op, node, out);
  if (operators::find_row(operators::permutation_operators, of(node)) != nullptr) return permute(node, out);
  for (const Rewrite& row : rewrites)
    if (row.target == target) return row.apply(*this, target, node, out);
  return false;
}

/// What casts to the dtype, or expands to the sizes, that its argument has is the argument.
bool Simplifier::drop_same(const Node& node, ValueId out, bool copies) {
  const std::span<const Argument> inputs = view().inputs(node);
  const ValueId x = inputs.empty() || !inputs[0].is_value() ? no_id : inputs[0].value();
  if (x == no_id || value(x).dtype != value(out).dtype || !same(sizes(x), sizes(out))) return false;
  return (!copies || escapes_[out] == 0) && forward(out, x);
}

// -- how elements lie -------------------------------------------------------------------------------------------------

/// What is behind operators that leave elements in their order.
ValueId Simplifier::stripped(ValueId v) {
  while (v != no_id) {
    const NodeId n = value(v).producer;
    if (n == no_id || n < from_.nodes.size()) break;
    const operators::SameElementsOperator* const op = operators::find_same_elements(of(n));
    const ValueId before = op == nullptr ? no_id : argument(n, 0);
    if (before == no_id || value(before).dtype != value(v).dtype || value(v).graph != value(before).graph) break;
    if (op->copies && (v >= escapes_.size() || escapes_[v] != 0)) break;
    v = before;
  }
  return v;
}

bool Simplifier::reshape(const operators::SameElementsOperator& op, const Node& node, ValueId out) {
  const std::string_view target = op.target;
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.empty() || !inputs[0].is_value()) return false;
  const ValueId x = inputs[0].value();
  if (value(x).dtype != value(out).dtype || value(x).kind != ValueKind::tensor) return false;
  if (op.copies && escapes_[out] != 0) return target == "aten.clone.default" && copied(node, x, out);
  if (op.copies && same(sizes(x), sizes(out))) return forward(out, x);
  // a size that the others tell is not asked for
  const bool asks =
      target == "aten.flatten.using_ints" || (inputs.size() > 1 && inputs[1].is_list() &&
                                              std::ranges::any_of(view().args(inputs[1].items), &Argument::is_value));
  const ValueId base = stripped(x);
  if (same(sizes(base), sizes(out))) return forward(out, base);
  if (fold_back(node, base, out) || select(node, base, out) || join(node, base, out) || reordered(node, base, out))
    return true;  // `inputs` may have moved
  return (base != x || (asks && (escapes_[out] == 0 || target == "aten.view.default"))) && lay(node, base, out);
}

/// A value and those that it is a view of, to the one that has the storage; none if that is not the program's own, or
/// outputs show it.
std::vector<ValueId> Simplifier::owned(ValueId v) {
  std::vector<ValueId> chain;
  for (const GraphId graph = value(v).graph; v != no_id; v = argument(value(v).producer, 0)) {
    const NodeId n = value(v).producer;
    if (n == no_id || n < from_.nodes.size() || value(v).graph != graph || v >= escapes_.size() || escapes_[v] != 0 ||
        is_constant(v))
      return {};
    chain.push_back(v);
    const std::string_view target = view().target(emit_.module().nodes[n]);
    if (view_kind(view(), operator_call(view(), emit_.module().nodes[n])) != ViewKind::none) continue;
    const bool makes = target.starts_with("aten.") && in_place(target) == InPlace::no &&
                       view().outputs(emit_.module().nodes[n]).size() == 1;
    return makes ? chain : std::vector<ValueId>{};
  }
  return {};
}

/// An output that copies a view of what is the program's own is the view; one that copies what nobody else uses is
/// that.
bool Simplifier::copied(const Node& node, ValueId x, ValueId out) {
  if (view().inputs(node).size() > 1 && view().find_input(node, "memory_format") == nullptr) return false;
  const std::vector<ValueId> chain = owned(x);
  if (chain.empty() || is_output_[out] == 0 || !used_once(x)) return false;
  if (chain.size() == 1) {
    if (!same(sizes(x), sizes(out)) || !forward(out, x)) return false;
    escapes_[x] = 1;
    return true;
  }
  const Node shape = emit_.module().nodes[value(x).producer];
  if (view_kind(view().target(shape)) != ViewKind::shape) return false;
  for (const ValueId v : chain) escapes_[v] = 1;
  Node made = node;
  made.target = shape.target;
  made.inputs = shape.inputs;
  emit_.append(made, false);
  return true;
}

/// What was joined of one part is that.
bool Simplifier::joined(const Node& node, ValueId out) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.empty() || inputs[0].items.count != 1 || !inputs[0].is_list() || is_output_[out] != 0) return false;
  const ValueId v = view().args(inputs[0].items)[0].value();
  if (value(v).dtype != value(out).dtype || !same(sizes(v), sizes(out))) return false;
  if (escapes_[out] != 0) {
    const std::vector<ValueId> chain = owned(v);
    if (chain.empty()) return false;
    for (const ValueId each : chain) escapes_[each] = 1;
  }
  return forward(out, v);
}

/// Dimensions of one that come and go around a permutation do not matter to it.
bool Simplifier::reordered(const Node& node, ValueId x, ValueId out) {
  operators::PermutationView permutation;
  if (!permuted(x, permutation)) return false;
  const ValueId inner = permutation.input;
  ValueId base = stripped(inner);
  const auto wide = [&](std::span<const Dim> all) {
    std::vector<std::size_t> at;
    for (std::size_t d = 0; d < all.size(); ++d)
      if (!is(all[d], 1)) at.push_back(d);
    return at;
  };
  const auto equal = [&](ValueId a, ValueId b) {
    const std::vector<std::size_t> left = wide(sizes(a)), right = wide(sizes(b));
    return std::ranges::equal(left, right,
                              [&](std::size_t l, std::size_t r) { return same(sizes(a)[l], sizes(b)[r]); });
  };
  if (!equal(x, out)) return false;
  if (sizes(base).size() != sizes(out).size() || !equal(base, inner)) {
    // a view came before, and a squeeze comes after: the view does without the dimensions that go again. (A batch of
    // one that a view takes away is left to the product that gives it back.)
    if (base == inner || sizes(inner).size() < sizes(out).size() || !view().target(node).starts_with("aten.squeeze."))
      return false;
    std::size_t gone = sizes(inner).size() - sizes(out).size();
    TensorMeta meta{.dtype = value(inner).dtype, .sizes = {}};
    for (const Dim& d : sizes(inner))
      if (!is(d, 1) || gone == 0)
        meta.sizes.push_back(d);
      else
        --gone;
    base = gone == 0 ? reshaped(base, meta) : no_id;
    if (base == no_id) return false;
  }
  // the wide dimensions of the result, by which of the base's they are; those of one take what is left, in order
  const std::vector<std::size_t> of_base = wide(sizes(base)), of_inner = wide(sizes(inner)), of_x = wide(sizes(x)),
                                 of_out = wide(sizes(out));
  std::vector<std::size_t> ones;
  for (std::size_t d = 0; d < sizes(base).size(); ++d)
    if (is(sizes(base)[d], 1)) ones.push_back(d);
  std::vector<Item> dims;
  for (std::size_t d = 0, wides = 0, units = 0; d < sizes(out).size(); ++d) {
    if (wides == of_out.size() || of_out[wides] != d) {
      dims.push_back(Item::integer(static_cast<std::int64_t>(ones[units++])));
      continue;
    }
    const std::size_t source = permutation.from[of_x[wides++]];
    const auto at = static_cast<std::size_t>(std::ranges::find(of_inner, source) - of_inner.begin());
    dims.push_back(Item::integer(static_cast<std::int64_t>(of_base[at])));
  }
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(base))}, {"dims", Item::list(std::move(dims))}};
  return replace(node, "aten.permute.default", arguments);
}

/// The elements of `base` in the sizes of `out`.
bool Simplifier::lay(const Node& node, ValueId base, ValueId out) {
  const std::string_view target = view().target(node);
  std::optional<Item> list = shape_of(std::vector<Dim>(sizes(out).begin(), sizes(out).end()));
  if (!list) {
    if (target != "aten.view.default" && target != "aten.reshape.default" && target != "aten._unsafe_view.default")
      return false;
    list = emit_.read(view().inputs(node)[1]);
  }
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(base))}, {"size", *std::move(list)}};
  return replace(node, "aten.view.default", arguments);
}
/// Sizes as a view takes them; a single symbolic one is told by the others. Nothing if no value stands for one.
std::optional<Item> Simplifier::shape_of(std::vector<Dim> dims) {
  const bool told = std::ranges::count_if(dims, [](const Dim& d) { return !d.is_static(); }) == 1 &&
                    std::ranges::none_of(dims, [](const Dim& d) { return d.is_static() && d.value == 0; });
  std::vector<Item> items;
  for (const Dim& d : dims)
    items.push_back(told && !d.is_static() ? Item::integer(-1) : Item::of(emit_.argument(emit_.item(d))));
  if (std::exchange(emit_.fault, nullptr) != nullptr) return std::nullopt;
  return Item::list(std::move(items));
}

/// The value of which `v` has the rows as one dimension: (lead..., n) for v of (rows, n).
ValueId Simplifier::rows_of(ValueId v, std::span<const Dim> lead) {
  const ValueId base = stripped(v);
  const std::span<const Dim> own = sizes(base);
  if (own.empty() || sizes(v).empty()) return no_id;
  if (own.size() == lead.size() + 1 && same(own.first(lead.size()), lead) && same(own.back(), sizes(v).back()))
    return base;
  if (base == v) return no_id;
  TensorMeta meta{.dtype = value(v).dtype, .sizes = std::vector<Dim>(lead.begin(), lead.end())};
  meta.sizes.push_back(sizes(v).back());
  return reshaped(base, meta);
}
/// A new view; no_id if no value stands for one of its sizes.
ValueId Simplifier::reshaped(ValueId v, const TensorMeta& meta) {
  v = stripped(v);
  if (same(sizes(v), meta.sizes)) return v;
  std::optional<Item> to = shape_of(meta.sizes);
  if (!to) return no_id;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(v))}, {"size", *std::move(to)}};
  return called("aten.view.default", arguments, meta);
}

/// view(product(view(x), w)) is a product of more dimensions.
bool Simplifier::fold_back(const Node& node, ValueId x, ValueId out) {
  const std::vector<Dim> to(sizes(out).begin(), sizes(out).end());
  if (to.size() < 3 || sizes(x).size() < 2 || !same(to.back(), sizes(x).back())) return false;
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
  if (const NodeId n = maker(x, "aten.bmm.default");
      n != no_id && to.size() > 3 && same(std::span(to).last(2), sizes(x).last(2))) {
    // the batch dimensions were made one; an operand may have been expanded before
    const auto operand = [&](ValueId v) {
      const ValueId expanded = stripped(v), base = before(expanded, "aten.expand.default");
      const std::span<const Dim> own = sizes(base), wide = sizes(expanded);
      if (own.size() > to.size() || own.size() < 2 || sizes(v).size() < 2 || !same(own.last(2), sizes(v).last(2)))
        return no_id;
      // what it was expanded to is a part of the result
      if (base != expanded &&
          (wide.size() > to.size() || wide.size() < 2 || !same(wide.last(2), own.last(2)) ||
           !same(wide.first(wide.size() - 2), std::span(to).subspan(to.size() - wide.size(), wide.size() - 2))))
        return no_id;
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
    if (a == no_id || b == no_id || std::max(sizes(a).size(), sizes(b).size()) != to.size()) return false;
    for (std::size_t d = 0; d + 2 < to.size(); ++d) {  // both may have been expanded along it
      const auto has = [&](std::span<const Dim> own) {
        return d + own.size() >= to.size() && same(own[d + own.size() - to.size()], to[d]);
      };
      if (!has(sizes(a)) && !has(sizes(b))) return false;
    }
    return batched(node, a, b, out);
  }
  return false;
}

/// What was joined along the first dimension in other sizes: the elements follow each other all the same.
bool Simplifier::join(const Node& node, ValueId x, ValueId out) {
  const std::vector<ValueId> rows = rows_of_cat(x);
  if (rows.empty() || sizes(out).empty() || !used_once(x)) return false;
  std::vector<Item> parts;
  std::int64_t total = 0;
  for (const ValueId row : rows) {
    const ValueId v = stripped(row);
    const std::span<const Dim> own = sizes(v);
    if (own.size() != sizes(out).size() || !own[0].is_static() || !same(own.subspan(1), sizes(out).subspan(1)))
      return false;
    total += own[0].value;
    parts.push_back(Item::of(GraphBuilder::value(v)));
  }
  if (!is(sizes(out)[0], total)) return false;
  const NamedItem arguments[] = {{"tensors", Item::list(std::move(parts))}, {"dim", Item::integer(0)}};
  return replace(node, "aten.cat.default", arguments);
}

/// A slice of one, without its dimension.
bool Simplifier::select(const Node& node, ValueId x, ValueId out) {
  const NodeId n = maker(x, "aten.slice.Tensor");
  if (n == no_id) return false;
  operators::SliceView slice;
  if (operators::read_slice(of(n), slice) || !is(sizes(x)[slice.dim], 1) || slice.start < 0) return false;
  std::vector<Dim> rest(sizes(slice.input).begin(), sizes(slice.input).end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(slice.dim));
  if (!same(rest, sizes(out))) return false;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(slice.input))},
                                 {"dim", Item::integer(static_cast<std::int64_t>(slice.dim))},
                                 {"index", Item::integer(slice.start)}};
  return replace(node, "aten.select.int", arguments);
}

/// The arguments of a permute.
std::vector<NamedItem> Simplifier::permute_call(const operators::PermutationView& permutation) {
  std::vector<Item> dims;
  for (std::size_t d = 0; d < permutation.rank; ++d) dims.push_back(Item::integer(permutation.from[d]));
  return {{"self", Item::of(GraphBuilder::value(permutation.input))}, {"dims", Item::list(std::move(dims))}};
}

bool Simplifier::permute(const Node& node, ValueId out) {
  operators::PermutationView permutation, first;
  if (operators::read_permutation(of(node), permutation) || permutation.rank == 0) return false;
  const bool joined = permuted(permutation.input, first);  // what is before that is joined already
  if (joined) permutation = permutation.after(first);
  const ValueId x = permutation.input;
  if (permutation.is_identity()) return forward(out, x);
  int last = -1;
  bool moves = false;  // more than dimensions of one
  for (std::size_t d = 0; d < permutation.rank; ++d) {
    if (is(sizes(x)[permutation.from[d]], 1)) continue;
    moves = moves || permutation.from[d] < last;
    last = permutation.from[d];
  }
  if (!moves && permutation.rank > 2) {
    const ValueId base = stripped(x);
    return same(sizes(base), sizes(out)) ? forward(out, base) : fold_back(node, base, out) || lay(node, base, out);
  }
  return joined && replace(node, "aten.permute.default", permute_call(permutation));
}

bool Simplifier::slice(const Node& node, ValueId out) {
  operators::SliceView slice;
  if (operators::read_slice(of(node), slice)) return false;
  const ValueId x = slice.input;
  if (same(sizes(x), sizes(out))) return slice.step == 1 && forward(out, x);
  // one row of what was turned round
  const NodeId n = maker(x, "aten.flip.default");
  const std::optional<std::size_t> turned = n == no_id ? std::nullopt : only_dim(of(n), "dims");
  if (turned != slice.dim || slice.length != 1) return false;
  const std::int64_t at = sizes(x)[slice.dim].value - 1 - slice.start;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(argument(n, 0)))},
                                 {"dim", Item::integer(static_cast<std::int64_t>(slice.dim))},
                                 {"start", Item::integer(at)},
                                 {"end", Item::integer(at + 1)}};
  return replace(node, "aten.slice.Tensor", arguments);
}

/// The dimension of an operator's `self` that is the only one in its list of that name, counted from the front.
std::optional<std::size_t> Simplifier::only_dim(const operators::NodeArguments& call, const char* name) {
  const Argument* const list = call.find({name, 1});
  const ValueId x = call.value({"self", 0});
  std::int64_t dim = 0;
  if (list == nullptr || x == no_id || call.items(*list).size() != 1 || !call.read_integer(call.items(*list)[0], dim) ||
      !wrap_dim(dim, call.rank(x)))
    return std::nullopt;
  return static_cast<std::size_t>(dim);
}

/// The tensors that a cat joins along its first dimension; nothing for others.
std::vector<ValueId> Simplifier::rows_of_cat(ValueId v) {
  std::vector<ValueId> parts;
  const NodeId n = maker(v, "aten.cat.default");
  std::size_t dim = 0;
  if (n == no_id || operators::read_cat(of(n), sizes(v).size(), dim) || dim != 0) return {};
  for (const Argument& part : view().args(of(n).find({"tensors", 0})->items)) parts.push_back(part.value());
  return parts;
}

/// What was joined of parts of one each, turned round, is joined in the other order.
bool Simplifier::flip(const Node& node, ValueId out) {
  if (sizes(out).empty() || only_dim(of(node), "dims") != std::size_t{0}) return false;
  const ValueId whole = stripped(of(node).value({"self", 0}));
  const std::vector<ValueId> rows = rows_of_cat(whole);
  if (rows.empty() || !used_once(whole) || !is(sizes(out)[0], static_cast<std::int64_t>(rows.size()))) return false;
  std::vector<Item> parts;
  for (const ValueId v : rows) {
    if (!same(sizes(v), sizes(rows[0]))) return false;
    parts.push_back(Item::of(GraphBuilder::value(v)));
  }
  std::ranges::reverse(parts);
  TensorMeta meta{.dtype = value(whole).dtype, .sizes = std::vector<Dim>(sizes(whole).begin(), sizes(whole).end())};
  const NamedItem arguments[] = {{"tensors", Item::list(std::move(parts))}, {"dim", Item::integer(0)}};
  if (same(sizes(whole), sizes(out))) return replace(node, "aten.cat.default", arguments);
  const Item turned = emit_.call("aten.cat.default", arguments, {&meta, 1}, false);
  std::vector<Item> to;
  for (const Dim& size : sizes(out)) {
    if (!size.is_static()) return false;
    to.push_back(Item::integer(size.value));
  }
  const NamedItem shape[] = {{"self", turned}, {"size", Item::list(std::move(to))}};
  return replace(node, "aten.view.default", shape);
}

}  // namespace detail

std::optional<ExportedProgram> simplified(const ExportedProgram& program, const DecomposeOptions* whole, bool before) {
  const GraphModuleView graph = program.view();
  if (std::ranges::none_of(graph.nodes,
                           [&](const Node& n) { return detail::Simplifier::is_worth_a_pass({graph, n}); }) ||
      storage_matters(graph) || !detail::are_well_formed(graph))
    return std::nullopt;
  ExportedProgram out = program;
  out.graph_module = detail::Simplifier(program, whole, before).run();
  return out;
}

}  // namespace davit
