// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "davit/lowering/detail/layout_rewrites.hpp"
#include "davit/lowering/detail/product_rewrites.hpp"
#include "davit/program/operators/binary.hpp"
#include "davit/ops/families/attention.hpp"

namespace davit::detail {

/// softmax(q f (k f)^T + mask) v -> attention; rows that are masked whole give zeros. A pattern describes the operands,
/// and `key` is taken before its transposition. Source: torch's _scaled_dot_product_attention_math.
[[nodiscard]] bool make_attention(Simplifier& s, const Node& node, ValueId p, ValueId v) {
  if (!s.used_once(p) || s.sizes(p).size() < s.sizes(v).size() ||
      std::ranges::none_of(operator_families::attention_scores,
                           [&](const PatternRow& row) { return s.fits(row, p); }) ||
      s.captured_number("d") + 1 != static_cast<double>(s.sizes(p).size()))
    return false;
  const ValueId q = s.captured("q"), k = s.captured("k"), mask = s.captured("mask");
  const double factor = s.captured_number("f") * s.captured_number("g");
  if (q == no_id || k == no_id || s.sizes(q).size() != s.sizes(k).size()) return false;
  if (s.sizes(v).size() < s.sizes(p).size()) {
    TensorMeta meta{.dtype = s.value(v).dtype,
                    .sizes = std::vector<Dim>(s.sizes(p).size() - s.sizes(v).size(), Dim{1})};
    meta.sizes.insert(meta.sizes.end(), s.sizes(v).begin(), s.sizes(v).end());
    v = s.reshaped(v, meta);
  }
  if (v == no_id || s.sizes(q).size() != s.sizes(v).size()) return false;
  const std::size_t rank = s.sizes(k).size();
  if (rank < 2 || rank > operators::max_moved_dims) return false;
  operators::PermutationView turn{k, rank, {}}, first;
  for (std::size_t d = 0; d < rank; ++d)
    turn.from[d] = static_cast<std::uint8_t>(d + 2 == rank ? d + 1 : d + 1 == rank ? d - 1 : d);
  TensorMeta meta{.dtype = s.value(k).dtype, .sizes = std::vector<Dim>(s.sizes(k).begin(), s.sizes(k).end())};
  std::swap(meta.sizes[rank - 2], meta.sizes[rank - 1]);
  // the keys before their transposition
  if (s.permuted(k, first)) turn = turn.after(first);
  ValueId base = turn.input;
  if (!turn.is_identity()) base = emit_permute(s, turn, meta);
  const Dim width = s.sizes(q).back();
  const bool usual = width.is_static() && std::fabs(factor * std::sqrt(static_cast<double>(width.value)) - 1) < 1e-9;
  std::vector<NamedItem> arguments{{"query", tensor_item(q)}, {"key", tensor_item(base)}, {"value", tensor_item(v)}};
  if (mask != no_id) arguments.push_back({"attn_mask", tensor_item(mask)});
  if (!usual) arguments.push_back({"scale", Item::of(GraphBuilder::real(factor))});
  return s.compose(node, "aten.scaled_dot_product_attention.default", arguments, PatternUse::composite);
}

bool make_matmul(Simplifier& s, const Node& node, ValueId a, ValueId b, ValueId out) {
  const std::span<const Argument> inputs = s.view().inputs(node);
  const std::string_view target = s.view().target(node);
  const bool is_batched = target == "aten.bmm.default", is_matmul = target == "aten.matmul.default";
  const bool as_it_is = (is_batched || is_matmul) && inputs[0].value() == a && inputs[1].value() == b;
  const Argument operands[] = {GraphBuilder::value(a), GraphBuilder::value(b)};
  if (!(as_it_is && is_matmul) && s.apply_patterns("aten.matmul.default", operands, node, out)) return true;
  if (make_attention(s, node, a, b)) return true;
  const NamedItem arguments[] = {{"self", tensor_item(a)}, {"other", tensor_item(b)}};
  return !as_it_is && s.compose(node, "aten.matmul.default", arguments);
}
[[nodiscard]] bool make_batched_matmul(Simplifier& s, const Node& node, ValueId out) {
  const std::span<const Argument> inputs = s.view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || !inputs[1].is_value()) return false;
  const ValueId a = inputs[0].value(), b = inputs[1].value();
  if (s.view().target(node) == "aten.matmul.default") return make_matmul(s, node, a, b, out);
  const ValueId whole = s.stripped(b), one = s.before_expand(whole);  // one matrix for the whole batch
  const auto ends_in_it = [&](ValueId v) { return s.sizes(v).size() > 1 && s.same(s.sizes(one), s.sizes(v).last(2)); };
  const bool is_one = one != b && s.sizes(one).size() == 2 && ends_in_it(whole) && ends_in_it(b);
  return make_matmul(s, node, a, is_one ? one : b, out);
}

[[nodiscard]] bool make_product_of_sum(Simplifier& s, const Node& node, ValueId) {
  const std::span<const Argument> inputs = s.view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || !inputs[1].is_list() || inputs[1].items.count == 0) return false;
  const ValueId x = inputs[0].value();
  const NodeId n = s.producer(x);
  const std::size_t rank = s.sizes(x).size();
  operators::BinaryView product;
  if (n == no_id || operators::read_binary(s.of(n), product) ||
      product.function != operators::BinaryFunction::multiply || !s.used_once(x) ||
      s.value(x).dtype != ScalarType::float32)
    return false;
  std::vector<std::int64_t> dims;
  for (const Argument& d : s.view().args(inputs[1].items))
    dims.push_back(d.payload < 0 ? d.payload + static_cast<std::int64_t>(rank) : d.payload);
  const ValueId a = product.left, b = product.right;
  if (a == no_id || b == no_id || s.value(a).dtype != s.value(b).dtype || s.value(a).dtype != s.value(x).dtype)
    return false;
  if (rank == 2) {
    if (dims != std::vector<std::int64_t>{1} || s.sizes(b).size() != 1 || !s.same(s.sizes(a), s.sizes(x)) ||
        !s.same(s.sizes(b)[0], s.sizes(x)[1]))
      return false;
    const NamedItem arguments[] = {{"self", tensor_item(a)}, {"vec", tensor_item(b)}};
    return s.compose(node, "aten.mv.default", arguments, PatternUse::composite);
  }
  // the value with these dimensions alone; no_id if another dimension is larger than 1
  const auto with = [&](ValueId v, std::initializer_list<std::size_t> kept) {
    if (v == no_id || s.value(v).dtype != s.value(x).dtype) return no_id;
    TensorMeta meta{.dtype = s.value(v).dtype, .sizes = {}};
    const std::span<const Dim> own = s.sizes(v);
    for (std::size_t d = 0; d < rank; ++d) {
      const Dim size = d + own.size() < rank ? Dim{1} : own[d + own.size() - rank];
      if (std::ranges::find(kept, d) != kept.end())
        meta.sizes.push_back(size);
      else if (!s.is(size, 1))
        return no_id;
    }
    return s.reshaped(v, meta);
  };
  if (rank != 4 || dims != std::vector<std::int64_t>{2}) return false;
  const ValueId left = with(a, {0, 1, 2}), right = with(b, {0, 2, 3});
  if (left == no_id || right == no_id || !s.same(s.sizes(left)[2], s.sizes(right)[1])) return false;
  const NamedItem arguments[] = {{"self", tensor_item(left)}, {"other", tensor_item(right)}};
  return s.compose(node, "aten.matmul.default", arguments, PatternUse::composite);
}

std::span<const Rewrite> product_rewrites() noexcept {
  static constexpr Rewrite rows[] = {
      {"aten.bmm.default", true, make_batched_matmul},
      {"aten.matmul.default", false, make_batched_matmul},
      {"aten.sum.dim_IntList", false, make_product_of_sum},
  };
  return rows;
}

}  // namespace davit::detail
