// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/backend/static_constant.hpp"
#include "davit/core/literal.hpp"
#include "davit/core/table.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// Per value, how many elements it has. O(values + dimensions).
[[nodiscard]] constexpr Table<std::int64_t> numel_table(GraphModuleView graph) {
  Table<std::int64_t> counts(graph.values.size(), 1);
  const Value* value = graph.values.data();
  const Dim* const dims = graph.dims.data();
  for (std::int64_t& count : counts) {
    const Range sizes = value++->sizes;
    for (std::uint32_t d = sizes.first; d < sizes.first + sizes.count; ++d) count *= dims[d].value;
  }
  return counts;
}

/// What a backend sees of a static program in constant evaluation: the root graph, its constants, and which nodes are
/// its own. Sizes are numbers: symbols were bound before. Trivially copyable.
struct EmbedGraph {
  static constexpr std::uint8_t nobody = 255;
  static constexpr std::uint8_t on_trial = 254;

  GraphModuleView graph;
  // Pointers, not spans, whose operators cost several calls each in constant evaluation.
  const StaticInput* inputs = nullptr;       ///< per graph input
  const std::uint32_t* input_of = nullptr;   ///< per value: its graph input, or no_id
  const std::uint32_t* users = nullptr;      ///< per value: how many nodes and graph outputs read it
  const std::uint8_t* is_output = nullptr;   ///< per value: 1 if it is a graph output
  const std::uint8_t* backend_of = nullptr;  ///< per node; `nobody` everywhere while nodes are being handed out
  const std::int64_t* numels = nullptr;      ///< per value: see numel_table
  std::uint8_t self = nobody;
  // Of `graph`, which is given when an EmbedGraph is made and stays.
  const char* text = graph.text.data();
  const Dim* dims = graph.dims.data();
  const Value* values = graph.values.data();
  const Argument* arguments = graph.arguments.data();
  const Node* nodes = graph.nodes.data();

  [[nodiscard]] constexpr const Value& operator[](ValueId v) const noexcept { return values[v]; }
  [[nodiscard]] constexpr ScalarType dtype(ValueId v) const noexcept { return values[v].dtype; }
  [[nodiscard]] constexpr std::uint32_t rank(ValueId v) const noexcept { return values[v].sizes.count; }
  /// Negative dimensions count from the end. The dimension must exist.
  [[nodiscard]] constexpr std::int64_t size(ValueId v, std::int64_t d) const noexcept {
    const Range sizes = values[v].sizes;
    return dims[sizes.first + static_cast<std::uint32_t>(d < 0 ? d + sizes.count : d)].value;
  }
  [[nodiscard]] constexpr std::int64_t numel(ValueId v) const noexcept { return numels[v]; }
  [[nodiscard]] constexpr bool same_sizes(ValueId a, ValueId b) const noexcept {
    const Range of_a = values[a].sizes, of_b = values[b].sizes;
    if (of_a.count != of_b.count) return false;
    for (std::uint32_t d = 0; d < of_a.count; ++d)
      if (dims[of_a.first + d].value != dims[of_b.first + d].value) return false;
    return true;
  }

  /// The graph input that a constant value is, or nullptr if the value is no constant.
  [[nodiscard]] constexpr const StaticInput* constant(ValueId v) const noexcept {
    if (input_of[v] == no_id || inputs[input_of[v]].role != StaticRole::constant) return nullptr;
    return &inputs[input_of[v]];
  }
  /// The elements of a constant, if constant evaluation can read them; else nullptr. T must be its dtype.
  template <class T>
  [[nodiscard]] constexpr const T* elements(ValueId v) const noexcept {
    const StaticInput* input = constant(v);
    return input != nullptr && input->data.is_array() && dtype(v) == scalar_type_of<T> ? input->data.as<T>() : nullptr;
  }

  /// True while nodes are being handed out: `mine` holds for none, and a node is judged by itself.
  [[nodiscard]] constexpr bool is_trial() const noexcept { return self == on_trial; }
  [[nodiscard]] constexpr NodeId producer(ValueId v) const noexcept { return values[v].producer; }
  /// True if the node was given to the asking backend, so that it may compute the node as part of a pattern.
  [[nodiscard]] constexpr bool mine(NodeId node) const noexcept { return node != no_id && backend_of[node] == self; }
  /// True if the node is one the asking backend was given, and is a call of `target`.
  [[nodiscard]] constexpr bool mine(NodeId node, Literal target) const noexcept {
    return mine(node) && is(node, target);
  }
  /// True if the node is a call of `target`.
  [[nodiscard]] constexpr bool is(NodeId node, Literal target) const noexcept {
    const Text t = nodes[node].target;
    return t.size == target.size && same_text(text + t.first, target.text, target.size);
  }
};

/// One node of an EmbedGraph, with its arguments by their names in the operator's schema.
struct EmbedNode {
  const EmbedGraph& g;
  NodeId id = no_id;

  [[nodiscard]] constexpr const Node& node() const noexcept { return g.nodes[id]; }
  [[nodiscard]] constexpr std::string_view target() const noexcept { return g.graph.target(node()); }
  /// True if the node is a call of that operator. In constant evaluation cheaper than to compare `target()`.
  [[nodiscard]] constexpr bool is(Literal target) const noexcept { return g.is(id, target); }
  /// The output at that position; no_id if it has none there.
  [[nodiscard]] constexpr ValueId output(std::uint32_t i = 0) const noexcept {
    const Range outputs = g.nodes[id].outputs;
    if (i >= outputs.count) return no_id;
    const Argument& a = g.arguments[outputs.first + i];
    return a.kind == ArgumentKind::value ? static_cast<ValueId>(a.payload) : no_id;
  }
  /// True if some node or graph output reads that output.
  [[nodiscard]] constexpr bool uses_output(std::uint32_t i) const noexcept {
    const ValueId v = output(i);
    return v != no_id && g.users[v] != 0;
  }
  /// The argument, or nullptr if the call leaves it at its default.
  [[nodiscard]] constexpr const Argument* argument(Literal name) const noexcept {
    const Range inputs = g.nodes[id].inputs;
    return find_argument(g.arguments + inputs.first, inputs.count, g.text, name);
  }
  /// The tensor argument of that name; no_id if it is absent or None.
  [[nodiscard]] constexpr ValueId value(Literal name) const noexcept {
    const Argument* a = argument(name);
    return a != nullptr && a->kind == ArgumentKind::value ? static_cast<ValueId>(a->payload) : no_id;
  }
  [[nodiscard]] constexpr std::int64_t integer(Literal name, std::int64_t fallback = 0) const noexcept {
    const Argument* a = argument(name);
    return a == nullptr || a->kind == ArgumentKind::none ? fallback : integer_of(*a);
  }
  /// A Scalar or float argument.
  [[nodiscard]] constexpr double number(Literal name, double fallback = 0) const noexcept {
    const Argument* a = argument(name);
    if (a == nullptr || a->kind == ArgumentKind::none) return fallback;
    return a->kind == ArgumentKind::float_ ? a->float_value() : static_cast<double>(integer_of(*a));
  }
  [[nodiscard]] constexpr bool flag(Literal name, bool fallback = false) const noexcept {
    return integer(name, fallback ? 1 : 0) != 0;
  }
  /// How many items a list argument has; 0 if it is absent or None.
  [[nodiscard]] constexpr std::uint32_t count(Literal name) const noexcept {
    const Argument* a = argument(name);
    return a != nullptr && a->kind == ArgumentKind::list ? a->items.count : 0;
  }
  /// A list of N integers; one item stands for N (as in int[2]), none for the fallback.
  template <std::size_t N>
  [[nodiscard]] constexpr std::array<std::int64_t, N> integers(Literal name, std::int64_t fallback) const noexcept {
    std::array<std::int64_t, N> list;
    std::int64_t* const numbers = list.data();
    const Argument* const a = argument(name);
    if (a != nullptr && a->kind == ArgumentKind::list && a->items.count != 0) {
      const Argument* const items = g.arguments + a->items.first;
      const std::uint32_t last = a->items.count - 1;
      for (std::size_t i = 0; i < N; ++i) numbers[i] = integer_of(items[i < last ? i : last]);
    } else {
      const std::int64_t number = a != nullptr && a->kind == ArgumentKind::int_ ? a->payload : fallback;
      for (std::size_t i = 0; i < N; ++i) numbers[i] = number;
    }
    return list;
  }
  [[nodiscard]] constexpr std::int64_t integer_of(const Argument& a) const noexcept {
    if (a.kind == ArgumentKind::value) return g.values[a.payload].constant;
    if (a.kind == ArgumentKind::float_) return static_cast<std::int64_t>(a.float_value());
    return a.payload;
  }
};

}  // namespace davit
