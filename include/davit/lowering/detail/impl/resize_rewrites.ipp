// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "davit/lowering/detail/resize_rewrites.hpp"
#include "davit/ops/families/resizing.hpp"
#include "davit/program/operators/binary.hpp"
#include "davit/program/operators/bounds.hpp"

namespace davit::detail {

/// Computes the elements of a tensor with at most one dimension larger than 1, if they depend on numbers alone:
/// arange(5) * 2.
[[nodiscard]] bool read_numbers(Simplifier& s, ValueId v, std::vector<double>& out, int depth) {
  std::int64_t count = 1;
  for (const Dim& d : s.sizes(v)) {
    if (!d.is_static() || (d.value != 1 && count != 1)) return false;
    count *= d.value;
  }
  const NodeId n = s.value(v).producer;
  if (depth == 0 || n == no_id || n < s.from.nodes.size() || count < 1 || count > s.max_numbers) return false;
  s.max_numbers -= count;
  const std::string_view target = s.view().target(s.emit.module().nodes[n]), name = target.substr(0, target.rfind('.'));
  const operators::NodeArguments call = s.of(n);
  const std::span<const Argument> inputs = s.view().inputs(s.emit.module().nodes[n]);
  const auto read = operators::NodeArguments::read_number;
  const ScalarType type = s.value(v).dtype;
  if (name == "aten.arange") {
    double start = 0, step = 1;
    const Argument* const by = s.view().find_input(s.emit.module().nodes[n], "step");
    if ((target != "aten.arange.default" && !read(inputs[0], start)) || (by != nullptr && !read(*by, step)))
      return false;
    for (std::int64_t i = 0; i < count; ++i) out.push_back(start + static_cast<double>(i) * step);
  } else if (operators::BinaryView binary; !operators::read_binary(call, binary)) {
    if (binary.alpha != 1) return false;
    std::vector<double> left{binary.left_number}, right{binary.right_number};
    for (const auto& [operand, numbers] : {std::pair(binary.left, &left), std::pair(binary.right, &right)}) {
      if (operand == no_id) continue;
      numbers->clear();
      if (!read_numbers(s, operand, *numbers, depth - 1)) return false;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double a = left[left.size() == 1 ? 0 : at], b = right[right.size() == 1 ? 0 : at];
      switch (binary.function) {
        using enum operators::BinaryFunction;
        case add: out.push_back(a + b); break;
        case subtract: out.push_back(a - b); break;
        case multiply: out.push_back(a * b); break;
        case divide: out.push_back(a / b); break;
        case maximum: out.push_back(std::max(a, b)); break;
        case minimum: out.push_back(std::min(a, b)); break;
      }
    }
  } else {
    const bool copies = operators::find_same_elements(call) != nullptr || target == "aten._to_copy.default" ||
                        target == "aten.to.dtype";
    operators::ClampView bounds;
    if (operators::read_clamp(call, bounds) && !copies && target != "aten.abs.default" &&
        target != "aten.floor.default")
      return false;
    if (inputs.empty() || !inputs[0].is_value() || !read_numbers(s, inputs[0].value(), out, depth - 1)) return false;
    for (double& x : out) {
      if (target == "aten.abs.default") x = std::fabs(x);
      if (target == "aten.floor.default") x = std::floor(x);
      x = std::min(std::max(x, bounds.low), bounds.high);
    }
  }
  if (out.size() != static_cast<std::size_t>(count)) return false;
  for (double& x : out) {
    if (!(std::fabs(x) < 1e15)) return false;
    x = type == ScalarType::float32 ? static_cast<double>(static_cast<float>(x))
        : is_floating(type)         ? x
                                    : std::trunc(x);
  }
  return type == ScalarType::float32 || type == ScalarType::float64 || type == ScalarType::int32 ||
         type == ScalarType::int64;
}

[[nodiscard]] bool make_padding_or_nearest(Simplifier& s, const Node& node, ValueId out) {
  const std::span<const Argument> inputs = s.view().inputs(node);
  if (s.whole == nullptr || inputs.size() != 2 || !inputs[0].is_value() || !inputs[1].is_list()) return false;
  ValueId x = inputs[0].value();
  const std::size_t rank = s.sizes(x).size();
  const std::vector<Argument> given(s.view().args(inputs[1].items).begin(), s.view().args(inputs[1].items).end());
  std::size_t first = 0;
  while (first < given.size() && !given[first].is_value()) ++first;
  std::size_t last = first;
  while (last < given.size() && given[last].is_value()) ++last;
  const std::size_t count = last - first;
  if (given.size() > rank || count == 0 || count > 3 ||
      std::any_of(given.begin() + static_cast<std::ptrdiff_t>(last), given.end(),
                  [](const Argument& a) { return a.is_value(); }) ||
      s.sizes(out).size() != rank)
    return false;
  std::vector<std::vector<double>> at(count);
  bool nearest = rank == count + 2 && last == rank && is_floating(s.value(x).dtype);
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const Dim> own = s.sizes(given[first + i].value());
    for (std::size_t d = 0; d < own.size(); ++d)
      if (!s.is(own[d], 1) && own.size() - d != count - i) return false;
    if (!s.sizes(x)[first + i].is_static() || !read_numbers(s, given[first + i].value(), at[i], 12)) return false;
    const auto from = static_cast<float>(s.sizes(x)[first + i].value);
    const float scale = from / static_cast<float>(at[i].size());
    for (std::size_t j = 0; j < at[i].size(); ++j)
      nearest =
          nearest && at[i][j] == static_cast<double>(std::min(std::floor(static_cast<float>(j) * scale), from - 1));
  }
  if (nearest) {
    static constexpr std::string_view names[] = {"aten.upsample_nearest1d.vec", "aten.upsample_nearest2d.vec",
                                                 "aten.upsample_nearest3d.vec"};
    std::vector<Item> to;
    for (const std::vector<double>& each : at) to.push_back(Item::integer(static_cast<std::int64_t>(each.size())));
    const NamedItem arguments[] = {
        {"input", tensor_item(x)}, {"output_size", Item::list(std::move(to))}, {"scale_factors", {}}};
    s.gathered[out] = node;
    return s.compose(node, names[count - 1], arguments, PatternUse::composite);
  }
  const std::size_t padded = std::max<std::size_t>(rank, 3) - 2;
  if (count != 1 || rank < 2 || padded > 3 || first + padded < rank) return false;
  const auto n = s.sizes(x)[first].value, m = static_cast<std::int64_t>(at[0].size());
  const auto fits = [&](bool mirrors, std::int64_t before) {
    if (before < 0 || m - n < before || (mirrors && (before >= n || m - n - before >= n))) return false;
    for (std::int64_t j = 0; j < m; ++j) {
      std::int64_t p = j - before;
      p = mirrors ? (p < 0 ? -p : p >= n ? 2 * (n - 1) - p : p) : std::clamp<std::int64_t>(p, 0, n - 1);
      if (at[0][static_cast<std::size_t>(j)] != static_cast<double>(p)) return false;
    }
    return true;
  };
  const auto zeros =
      static_cast<std::int64_t>(std::ranges::find_if(at[0], [](double i) { return i != 0; }) - at[0].begin());
  const bool mirrors = fits(true, static_cast<std::int64_t>(at[0][0]));
  if (!mirrors && !fits(false, zeros - 1)) return false;
  const std::int64_t left = mirrors ? static_cast<std::int64_t>(at[0][0]) : zeros - 1;
  static constexpr std::string_view names[2][3] = {
      {"aten.replication_pad1d.default", "aten.replication_pad2d.default", "aten.replication_pad3d.default"},
      {"aten.reflection_pad1d.default", "aten.reflection_pad2d.default", "aten.reflection_pad3d.default"}};
  const std::string_view target = names[mirrors ? 1 : 0][padded - 1];
  std::vector<std::int64_t> pads(2 * padded, 0);
  const std::size_t place = 2 * (rank - 1 - first);
  if (const NodeId before = s.producer(x, target); before != no_id && s.used_once(x)) {  // a pad of another dimension
    const std::span<const Argument> old = s.view().args(s.view().inputs(s.emit.module().nodes[before])[1].items);
    const bool joins = old.size() == pads.size() &&
                       std::ranges::all_of(old, [](const Argument& a) { return a.kind == ArgumentKind::int_; }) &&
                       old[place].payload == 0 && old[place + 1].payload == 0;
    for (std::size_t i = 0; joins && i < pads.size(); ++i) pads[i] = old[i].payload;
    if (joins) x = s.argument(before, 0);
  }
  pads[place] = left;
  pads[place + 1] = m - n - left;
  std::vector<Item> padding;
  for (const std::int64_t p : pads) padding.push_back(Item::integer(p));
  const NamedItem arguments[] = {{"self", tensor_item(x)}, {"padding", Item::list(std::move(padding))}};
  return s.compose(node, target, arguments, PatternUse::composite);
}

[[nodiscard]] bool make_linear_resize(Simplifier& s, const Node& node, ValueId) {
  std::vector<ValueId> leaves, weights;
  const auto taken = [&](ValueId v) -> const Node* {
    if (const auto at = s.gathered.find(v); at != s.gathered.end()) return &at->second;
    NodeId n = s.producer(v, "aten.index.Tensor");
    if (n == no_id) n = s.producer(v, "aten._unsafe_index.Tensor");
    return n == no_id ? nullptr : &s.emit.module().nodes[n];
  };
  const auto source = [&](ValueId v) {
    const Argument& a = s.view().inputs(*taken(v))[0];
    return a.is_value() ? a.value() : no_id;
  };
  const auto take_apart = [&](auto& self, std::span<const Argument> inputs, std::span<const Argument> outputs,
                              std::size_t depth) -> bool {
    if (depth == 3 || !s.fits(operator_families::linear_step, inputs, outputs)) return false;
    const ValueId a = s.captured("a"), b = s.captured("b"), weight = s.captured("w");
    if (depth == weights.size()) weights.push_back(weight);
    if (weights[depth] != weight) return false;
    for (const ValueId side : {a, b}) {
      const NodeId n = taken(side) != nullptr ? no_id : s.producer(side);
      const Node* const inner = n == no_id ? nullptr : &s.emit.module().nodes[n];
      if (inner != nullptr && (s.view().target(*inner) != s.view().target(node) ||
                               !self(self, s.view().inputs(*inner), s.view().outputs(*inner), depth + 1)))
        return false;
      if (inner == nullptr && taken(side) == nullptr) return false;
      if (inner == nullptr) leaves.push_back(side);
    }
    return true;
  };
  if (s.whole == nullptr || !take_apart(take_apart, s.view().inputs(node), s.view().outputs(node), 0) ||
      leaves.size() != std::size_t{1} << weights.size())
    return false;
  const std::size_t count = weights.size();
  const auto index = [&](std::size_t leaf, std::size_t i) -> ValueId {
    const std::span<const Argument> inputs = s.view().inputs(*taken(leaves[leaf]));
    if (inputs.size() != 2 || inputs[1].items.count != count + 2) return no_id;
    const Argument& a = s.view().args(inputs[1].items)[i];
    return a.is_value() ? a.value() : no_id;
  };
  const ValueId x = source(leaves[0]);
  if (x == no_id || s.sizes(x).size() != count + 2 || !is_floating(s.value(x).dtype) ||
      s.value(x).dtype != s.value(s.view().outputs(node)[0].value()).dtype)
    return false;
  bool aligned = true, centred = true;
  std::vector<Item> to;
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId low = index(0, i + 2), high = index(leaves.size() - 1, i + 2);
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
      if (index(leaf, i + 2) != ((leaf >> (count - 1 - i) & 1u) != 0 ? high : low) || source(leaves[leaf]) != x ||
          index(leaf, 0) != no_id || index(leaf, 1) != no_id)
        return false;
    std::vector<double> l, h, w;
    if (low == no_id || high == no_id || !s.sizes(x)[i + 2].is_static() || !read_numbers(s, low, l, 12) ||
        !read_numbers(s, high, h, 12) || !read_numbers(s, weights[i], w, 12))
      return false;
    if (l.size() != h.size() || l.size() != w.size()) return false;
    const auto n = static_cast<double>(s.sizes(x)[i + 2].value), m = static_cast<double>(l.size());
    if (n == m) return false;  // kernels copy along this axis, the program makes NaN of infinities
    for (std::size_t j = 0; j < l.size(); ++j) {
      // in float32, as kernels do: an infinite difference times a weight of 0 is NaN
      const auto exact = [&](float place) {
        const float first = std::min(std::floor(std::max(place, 0.0f)), static_cast<float>(n) - 1);
        return l[j] == double{first} && (w[j] == 0) == (std::max(place, 0.0f) <= first);
      };
      const auto fits = [&](double place) {
        return std::fabs(l[j] + w[j] - std::max(place, 0.0)) < 1e-4 && w[j] >= 0 && w[j] <= 1 &&
               h[j] == std::min(l[j] + 1, n - 1);
      };
      const auto at = static_cast<float>(j), from = static_cast<float>(n), to_size = static_cast<float>(m);
      aligned = aligned && fits(m == 1 ? 0 : static_cast<double>(j) * (n - 1) / (m - 1)) &&
                exact(m == 1 ? 0 : at * ((from - 1) / (to_size - 1)));
      centred =
          centred && fits((static_cast<double>(j) + 0.5) * n / m - 0.5) && exact((at + 0.5f) * (from / to_size) - 0.5f);
    }
    to.push_back(Item::integer(static_cast<std::int64_t>(l.size())));
  }
  if (!aligned && !centred) return false;
  static constexpr std::string_view names[] = {"aten.upsample_linear1d.lerp", "aten.upsample_bilinear2d.lerp",
                                               "aten.upsample_trilinear3d.lerp"};
  const NamedItem arguments[] = {{"input", tensor_item(x)},
                                 {"output_size", Item::list(std::move(to))},
                                 {"align_corners", Item::boolean(!centred)}};
  return s.compose(node, names[count - 1], arguments, PatternUse::composite);
}

std::span<const Rewrite> resize_rewrites() noexcept {
  static constexpr Rewrite rows[] = {
      {"aten._unsafe_index.Tensor", true, make_padding_or_nearest},
      {"aten.add.Tensor", false, make_linear_resize},
      {"aten.index.Tensor", true, make_padding_or_nearest},
  };
  return rows;
}

}  // namespace davit::detail
