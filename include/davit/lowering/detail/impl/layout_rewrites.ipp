// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "davit/lowering/detail/layout_rewrites.hpp"
#include "davit/lowering/detail/product_rewrites.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

/// Lists a value, its base, and so on up to the owner of the storage; empty if the owner is an input or an output views
/// it.
[[nodiscard]] std::vector<ValueId> owned_chain(Simplifier& s, ValueId v) {
  std::vector<ValueId> chain;
  for (const GraphId graph = s.value(v).graph; v != no_id; v = s.argument(s.value(v).producer, 0)) {
    const NodeId n = s.value(v).producer;
    if (n == no_id || n < s.from.nodes.size() || s.value(v).graph != graph || v >= s.escapes.size() ||
        s.escapes[v] != 0 || s.is_constant(v))
      return {};
    chain.push_back(v);
    const std::string_view target = s.view().target(s.emit.module().nodes[n]);
    if (view_kind(s.view(), operator_call(s.view(), s.emit.module().nodes[n])) != ViewKind::none) continue;
    const bool makes = target.starts_with("aten.") && in_place(target) == InPlace::no &&
                       s.view().outputs(s.emit.module().nodes[n]).size() == 1;
    return makes ? chain : std::vector<ValueId>{};
  }
  return {};
}

/// clone(view(v)) as an output becomes the view if the caller cannot see v's storage; clone(v) becomes v if nothing
/// else uses v.
[[nodiscard]] bool make_shown_view(Simplifier& s, const Node& node, ValueId x, ValueId out) {
  if (s.view().inputs(node).size() > 1 && s.view().find_input(node, "memory_format") == nullptr) return false;
  const std::vector<ValueId> chain = owned_chain(s, x);
  if (chain.empty() || s.is_output[out] == 0 || !s.used_once(x)) return false;
  if (chain.size() == 1) {
    if (!s.same(s.sizes(x), s.sizes(out)) || !s.forward(out, x)) return false;
    s.escapes[x] = 1;
    return true;
  }
  const Node shape = s.emit.module().nodes[s.value(x).producer];
  if (view_kind(s.view().target(shape)) != ViewKind::shape) return false;
  for (const ValueId v : chain) s.escapes[v] = 1;
  Node made = node;
  made.target = shape.target;
  made.inputs = shape.inputs;
  s.emit.append(made, false);
  return true;
}

[[nodiscard]] bool drop_cat_of_one(Simplifier& s, const Node& node, ValueId out) {
  const std::span<const Argument> inputs = s.view().inputs(node);
  if (inputs.empty() || inputs[0].items.count != 1 || !inputs[0].is_list() || s.is_output[out] != 0) return false;
  const ValueId v = s.view().args(inputs[0].items)[0].value();
  if (s.value(v).dtype != s.value(out).dtype || !s.same(s.sizes(v), s.sizes(out))) return false;
  if (s.escapes[out] != 0) {
    const std::vector<ValueId> chain = owned_chain(s, v);
    if (chain.empty()) return false;
    for (const ValueId each : chain) s.escapes[each] = 1;
  }
  return s.forward(out, v);
}

/// view(v: [rows, n], [lead..., n]).
[[nodiscard]] ValueId rows_of(Simplifier& s, ValueId v, std::span<const Dim> lead) {
  const ValueId base = s.stripped(v);
  const std::span<const Dim> own = s.sizes(base);
  if (own.empty() || s.sizes(v).empty()) return no_id;
  if (own.size() == lead.size() + 1 && s.same(own.first(lead.size()), lead) && s.same(own.back(), s.sizes(v).back()))
    return base;
  if (base == v) return no_id;
  TensorMeta meta{.dtype = s.value(v).dtype, .sizes = std::vector<Dim>(lead.begin(), lead.end())};
  meta.sizes.push_back(s.sizes(v).back());
  return s.reshaped(base, meta);
}

/// view(product(view(x), w)) -> a product of more dimensions.
[[nodiscard]] bool make_wider_product(Simplifier& s, const Node& node, ValueId x, ValueId out) {
  const std::vector<Dim> to(s.sizes(out).begin(), s.sizes(out).end());
  if (to.size() < 3 || s.sizes(x).size() < 2 || !s.same(to.back(), s.sizes(x).back())) return false;
  const std::span<const Dim> lead(to.data(), to.size() - 1);
  if (const NodeId n = s.producer(x, "aten.linear.default"); n != no_id && s.sizes(x).size() == 2) {
    const ValueId rows = rows_of(s, s.argument(n, 0), lead);
    if (rows == no_id) return false;
    std::vector<NamedItem> arguments{{"input", tensor_item(rows)}, {"weight", tensor_item(s.argument(n, 1))}};
    if (const ValueId bias = s.argument(n, 2); bias != no_id) arguments.push_back({"bias", tensor_item(bias)});
    return s.compose(node, "aten.linear.default", arguments);
  }
  if (const NodeId n = s.producer(x, "aten.mm.default"); n != no_id) {
    const ValueId rows = rows_of(s, s.argument(n, 0), lead);
    if (rows == no_id) return false;
    const NamedItem arguments[] = {{"self", tensor_item(rows)}, {"other", tensor_item(s.argument(n, 1))}};
    return s.compose(node, "aten.matmul.default", arguments);
  }
  if (const NodeId n = s.producer(x, "aten.bmm.default");
      n != no_id && to.size() > 3 && s.same(std::span(to).last(2), s.sizes(x).last(2))) {
    // the batch dimensions were flattened, perhaps after an expand of the operand
    const auto operand = [&](ValueId v) {
      const ValueId expanded = s.stripped(v), base = s.before_expand(expanded);
      const std::span<const Dim> own = s.sizes(base), wide = s.sizes(expanded);
      if (own.size() > to.size() || own.size() < 2 || s.sizes(v).size() < 2 || !s.same(own.last(2), s.sizes(v).last(2)))
        return no_id;
      // the expanded sizes are part of the result's sizes
      if (base != expanded &&
          (wide.size() > to.size() || wide.size() < 2 || !s.same(wide.last(2), own.last(2)) ||
           !s.same(wide.first(wide.size() - 2), std::span(to).subspan(to.size() - wide.size(), wide.size() - 2))))
        return no_id;
      for (std::size_t d = 0; d + 2 < own.size(); ++d)
        if (const Dim& whole = to[to.size() - own.size() + d]; !s.is(own[d], 1) && !s.same(own[d], whole)) return no_id;
      return base;
    };
    const ValueId a = operand(s.argument(n, 0));
    ValueId b = operand(s.argument(n, 1));
    if (b == no_id && s.producer(a, "aten._safe_softmax.default") != no_id) {  // attention keeps the rank of its scores
      TensorMeta meta{.dtype = s.value(a).dtype, .sizes = to};
      std::ranges::copy(s.sizes(s.argument(n, 1)).last(2), meta.sizes.end() - 2);
      b = s.reshaped(s.argument(n, 1), meta);
    }
    if (a == no_id || b == no_id || std::max(s.sizes(a).size(), s.sizes(b).size()) != to.size()) return false;
    for (std::size_t d = 0; d + 2 < to.size(); ++d) {  // both operands may be broadcast along this dimension
      const auto has = [&](std::span<const Dim> own) {
        return d + own.size() >= to.size() && s.same(own[d + own.size() - to.size()], to[d]);
      };
      if (!has(s.sizes(a)) && !has(s.sizes(b))) return false;
    }
    return make_matmul(s, node, a, b, out);
  }
  return false;
}

/// cat([a, b], 0) -> a, b; empty for other nodes.
[[nodiscard]] std::vector<ValueId> rows_of_cat(Simplifier& s, ValueId v) {
  std::vector<ValueId> parts;
  const NodeId n = s.producer(v, "aten.cat.default");
  std::size_t dim = 0;
  if (n == no_id || operators::read_cat(s.of(n), s.sizes(v).size(), dim) || dim != 0) return {};
  for (const Argument& part : s.view().args(s.of(n).find({"tensors", 0})->items)) parts.push_back(part.value());
  return parts;
}

/// The dimension in an operator's list of that name if the list has one entry, counted from the front.
[[nodiscard]] std::optional<std::size_t> only_dim(const operators::NodeArguments& call, const char* name) {
  const Argument* const list = call.find({name, 1});
  const ValueId x = call.value({"self", 0});
  std::int64_t dim = 0;
  if (list == nullptr || x == no_id || call.items(*list).size() != 1 || !call.read_integer(call.items(*list)[0], dim) ||
      !wrap_dim(dim, call.rank(x)))
    return std::nullopt;
  return static_cast<std::size_t>(dim);
}

/// view(cat([a, b], 0)) -> cat([view(a), view(b)], 0): the order of elements stays.
[[nodiscard]] bool make_longer_cat(Simplifier& s, const Node& node, ValueId x, ValueId out) {
  const std::vector<ValueId> rows = rows_of_cat(s, x);
  if (rows.empty() || s.sizes(out).empty() || !s.used_once(x)) return false;
  std::vector<Item> parts;
  std::int64_t total = 0;
  for (const ValueId row : rows) {
    const ValueId v = s.stripped(row);
    const std::span<const Dim> own = s.sizes(v);
    if (own.size() != s.sizes(out).size() || !own[0].is_static() || !s.same(own.subspan(1), s.sizes(out).subspan(1)))
      return false;
    total += own[0].value;
    parts.push_back(tensor_item(v));
  }
  if (!s.is(s.sizes(out)[0], total)) return false;
  const NamedItem arguments[] = {{"tensors", Item::list(std::move(parts))}, {"dim", Item::integer(0)}};
  return s.replace(node, "aten.cat.default", arguments);
}

/// squeeze(slice(x, d, i, i + 1)) -> select(x, d, i).
[[nodiscard]] bool make_select(Simplifier& s, const Node& node, ValueId x, ValueId out) {
  const NodeId n = s.producer(x, "aten.slice.Tensor");
  if (n == no_id) return false;
  operators::SliceView slice;
  if (operators::read_slice(s.of(n), slice) || !s.is(s.sizes(x)[slice.dim], 1) || slice.start < 0) return false;
  std::vector<Dim> rest(s.sizes(slice.input).begin(), s.sizes(slice.input).end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(slice.dim));
  if (!s.same(rest, s.sizes(out))) return false;
  const NamedItem arguments[] = {{"self", tensor_item(slice.input)},
                                 {"dim", Item::integer(static_cast<std::int64_t>(slice.dim))},
                                 {"index", Item::integer(slice.start)}};
  return s.replace(node, "aten.select.int", arguments);
}

[[nodiscard]] std::vector<NamedItem> permute_call(const operators::PermutationView& permutation) {
  std::vector<Item> dims;
  for (std::size_t d = 0; d < permutation.rank; ++d) dims.push_back(Item::integer(permutation.from[d]));
  return {{"self", tensor_item(permutation.input)}, {"dims", Item::list(std::move(dims))}};
}

/// view(base) with the sizes of `out`.
[[nodiscard]] bool make_view(Simplifier& s, const Node& node, ValueId base, ValueId out) {
  const std::string_view target = s.view().target(node);
  std::optional<Item> list = s.shape_of(std::vector<Dim>(s.sizes(out).begin(), s.sizes(out).end()));
  if (!list) {
    if (target != "aten.view.default" && target != "aten.reshape.default" && target != "aten._unsafe_view.default")
      return false;
    list = s.emit.read(s.view().inputs(node)[1]);
  }
  const NamedItem arguments[] = {{"self", tensor_item(base)}, {"size", *std::move(list)}};
  return s.replace(node, "aten.view.default", arguments);
}

/// squeeze(permute(unsqueeze(x))) -> permute(x): dimensions of size 1 do not affect it.
[[nodiscard]] bool make_one_permute(Simplifier& s, const Node& node, ValueId x, ValueId out) {
  operators::PermutationView permutation;
  if (!s.permuted(x, permutation)) return false;
  const ValueId inner = permutation.input;
  ValueId base = s.stripped(inner);
  const auto wide = [&](std::span<const Dim> all) {
    std::vector<std::size_t> at;
    for (std::size_t d = 0; d < all.size(); ++d)
      if (!s.is(all[d], 1)) at.push_back(d);
    return at;
  };
  const auto equal = [&](ValueId a, ValueId b) {
    const std::vector<std::size_t> left = wide(s.sizes(a)), right = wide(s.sizes(b));
    return std::ranges::equal(left, right,
                              [&](std::size_t l, std::size_t r) { return s.same(s.sizes(a)[l], s.sizes(b)[r]); });
  };
  if (!equal(x, out)) return false;
  if (s.sizes(base).size() != s.sizes(out).size() || !equal(base, inner)) {
    // squeeze(permute(view(x))): the view leaves out the dimensions that the squeeze drops. (A batch of 1 that a view
    // drops is left to the product that restores it.)
    if (base == inner || s.sizes(inner).size() < s.sizes(out).size() ||
        !s.view().target(node).starts_with("aten.squeeze."))
      return false;
    std::size_t gone = s.sizes(inner).size() - s.sizes(out).size();
    TensorMeta meta{.dtype = s.value(inner).dtype, .sizes = {}};
    for (const Dim& d : s.sizes(inner))
      if (!s.is(d, 1) || gone == 0)
        meta.sizes.push_back(d);
      else
        --gone;
    base = gone == 0 ? s.reshaped(base, meta) : no_id;
    if (base == no_id) return false;
  }
  // the dimensions of the result larger than 1, by their dimensions in the base; dimensions of size 1 fill the rest in
  // order
  const std::vector<std::size_t> of_base = wide(s.sizes(base)), of_inner = wide(s.sizes(inner)),
                                 of_x = wide(s.sizes(x)), of_out = wide(s.sizes(out));
  std::vector<std::size_t> ones;
  for (std::size_t d = 0; d < s.sizes(base).size(); ++d)
    if (s.is(s.sizes(base)[d], 1)) ones.push_back(d);
  std::vector<Item> dims;
  for (std::size_t d = 0, wides = 0, units = 0; d < s.sizes(out).size(); ++d) {
    if (wides == of_out.size() || of_out[wides] != d) {
      dims.push_back(Item::integer(static_cast<std::int64_t>(ones[units++])));
      continue;
    }
    const std::size_t source = permutation.from[of_x[wides++]];
    const auto at = static_cast<std::size_t>(std::ranges::find(of_inner, source) - of_inner.begin());
    dims.push_back(Item::integer(static_cast<std::int64_t>(of_base[at])));
  }
  const NamedItem arguments[] = {{"self", tensor_item(base)}, {"dims", Item::list(std::move(dims))}};
  return s.replace(node, "aten.permute.default", arguments);
}

bool make_permute(Simplifier& s, const Node& node, ValueId out) {
  operators::PermutationView permutation, first;
  if (operators::read_permutation(s.of(node), permutation) || permutation.rank == 0) return false;
  const bool joined = s.permuted(permutation.input, first);  // earlier permutations are merged already
  if (joined) permutation = permutation.after(first);
  const ValueId x = permutation.input;
  if (permutation.is_identity()) return s.forward(out, x);
  int last = -1;
  bool moves = false;  // dimensions larger than 1 change their order
  for (std::size_t d = 0; d < permutation.rank; ++d) {
    if (s.is(s.sizes(x)[permutation.from[d]], 1)) continue;
    moves = moves || permutation.from[d] < last;
    last = permutation.from[d];
  }
  if (!moves && permutation.rank > 2) {
    const ValueId base = s.stripped(x);
    return s.same(s.sizes(base), s.sizes(out))
               ? s.forward(out, base)
               : make_wider_product(s, node, base, out) || make_view(s, node, base, out);
  }
  return joined && s.replace(node, "aten.permute.default", permute_call(permutation));
}

[[nodiscard]] bool make_slice(Simplifier& s, const Node& node, ValueId out) {
  operators::SliceView slice;
  if (operators::read_slice(s.of(node), slice)) return false;
  const ValueId x = slice.input;
  if (s.same(s.sizes(x), s.sizes(out))) return slice.step == 1 && s.forward(out, x);
  // flip(x)[i] -> x[n - 1 - i]
  const NodeId n = s.producer(x, "aten.flip.default");
  const std::optional<std::size_t> turned = n == no_id ? std::nullopt : only_dim(s.of(n), "dims");
  if (turned != slice.dim || slice.length != 1) return false;
  const std::int64_t at = s.sizes(x)[slice.dim].value - 1 - slice.start;
  const NamedItem arguments[] = {{"self", tensor_item(s.argument(n, 0))},
                                 {"dim", Item::integer(static_cast<std::int64_t>(slice.dim))},
                                 {"start", Item::integer(at)},
                                 {"end", Item::integer(at + 1)}};
  return s.replace(node, "aten.slice.Tensor", arguments);
}

[[nodiscard]] bool make_reversed_cat(Simplifier& s, const Node& node, ValueId out) {
  if (s.sizes(out).empty() || only_dim(s.of(node), "dims") != std::size_t{0}) return false;
  const ValueId whole = s.stripped(s.of(node).value({"self", 0}));
  const std::vector<ValueId> rows = rows_of_cat(s, whole);
  if (rows.empty() || !s.used_once(whole) || !s.is(s.sizes(out)[0], static_cast<std::int64_t>(rows.size())))
    return false;
  std::vector<Item> parts;
  for (const ValueId v : rows) {
    if (!s.same(s.sizes(v), s.sizes(rows[0]))) return false;
    parts.push_back(tensor_item(v));
  }
  std::ranges::reverse(parts);
  TensorMeta meta{.dtype = s.value(whole).dtype,
                  .sizes = std::vector<Dim>(s.sizes(whole).begin(), s.sizes(whole).end())};
  const NamedItem arguments[] = {{"tensors", Item::list(std::move(parts))}, {"dim", Item::integer(0)}};
  if (s.same(s.sizes(whole), s.sizes(out))) return s.replace(node, "aten.cat.default", arguments);
  const Item turned = s.emit.call("aten.cat.default", arguments, {&meta, 1}, false);
  std::vector<Item> to;
  for (const Dim& size : s.sizes(out)) {
    if (!size.is_static()) return false;
    to.push_back(Item::integer(size.value));
  }
  const NamedItem shape[] = {{"self", turned}, {"size", Item::list(std::move(to))}};
  return s.replace(node, "aten.view.default", shape);
}

bool make_reshape(Simplifier& s, const operators::SameElementsOperator& op, const Node& node, ValueId out) {
  const std::string_view target = op.target;
  const std::span<const Argument> inputs = s.view().inputs(node);
  if (inputs.empty() || !inputs[0].is_value()) return false;
  const ValueId x = inputs[0].value();
  if (s.value(x).dtype != s.value(out).dtype || s.value(x).kind != ValueKind::tensor) return false;
  if (op.copies && s.escapes[out] != 0) return target == "aten.clone.default" && make_shown_view(s, node, x, out);
  if (op.copies && s.same(s.sizes(x), s.sizes(out))) return s.forward(out, x);
  // a size that follows from the other sizes needs no sym_size
  const bool asks =
      target == "aten.flatten.using_ints" || (inputs.size() > 1 && inputs[1].is_list() &&
                                              std::ranges::any_of(s.view().args(inputs[1].items), &Argument::is_value));
  const ValueId base = s.stripped(x);
  if (s.same(s.sizes(base), s.sizes(out))) return s.forward(out, base);
  if (make_wider_product(s, node, base, out) || make_select(s, node, base, out) ||
      make_longer_cat(s, node, base, out) || make_one_permute(s, node, base, out))
    return true;  // `inputs` may dangle now
  return (base != x || (asks && (s.escapes[out] == 0 || target == "aten.view.default"))) &&
         make_view(s, node, base, out);
}

ValueId emit_permute(Simplifier& s, const operators::PermutationView& permutation, const TensorMeta& meta) {
  return s.emit.call("aten.permute.default", permute_call(permutation), {&meta, 1}, false).value();
}

std::span<const Rewrite> layout_rewrites() noexcept {
  static constexpr Rewrite rows[] = {
      {"aten.cat.default", false, drop_cat_of_one},
      {"aten.flip.default", true, make_reversed_cat},
      {"aten.slice.Tensor", false, make_slice},
  };
  return rows;
}

}  // namespace davit::detail
