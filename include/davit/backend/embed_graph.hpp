// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backend/static_constant.hpp"
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
  std::span<const StaticInput> inputs;       ///< per graph input
  std::span<const std::uint32_t> input_of;   ///< per value: its graph input, or no_id
  std::span<const std::uint32_t> users;      ///< per value: how many nodes and graph outputs read it
  std::span<const std::uint8_t> is_output;   ///< per value: 1 if it is a graph output
  std::span<const std::uint8_t> backend_of;  ///< per node; `nobody` everywhere while nodes are being handed out
  const std::int64_t* numels = nullptr;      ///< per value: see numel_table
  std::uint8_t self = nobody;
  std::uint16_t* notes = nullptr;  ///< of the backend: see EmbedNode::note

  // Compile time: std::span's own operators cost several calls each in constant evaluation.
  [[nodiscard]] constexpr const Value& operator[](ValueId v) const noexcept { return graph.values.data()[v]; }
  [[nodiscard]] constexpr ScalarType dtype(ValueId v) const noexcept { return graph.values.data()[v].dtype; }
  [[nodiscard]] constexpr std::uint32_t rank(ValueId v) const noexcept { return graph.values.data()[v].sizes.count; }
  /// Negative dimensions count from the end. The dimension must exist.
  [[nodiscard]] constexpr std::int64_t size(ValueId v, std::int64_t d) const noexcept {
    const Range sizes = graph.values.data()[v].sizes;
    return graph.dims.data()[sizes.first + static_cast<std::uint32_t>(d < 0 ? d + sizes.count : d)].value;
  }
  [[nodiscard]] constexpr std::int64_t numel(ValueId v) const noexcept { return numels[v]; }
  [[nodiscard]] constexpr bool same_sizes(ValueId a, ValueId b) const noexcept {
    const Range of_a = graph.values.data()[a].sizes, of_b = graph.values.data()[b].sizes;
    if (of_a.count != of_b.count) return false;
    const Dim* const dims = graph.dims.data();
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
  [[nodiscard]] constexpr NodeId producer(ValueId v) const noexcept { return graph.values.data()[v].producer; }
  /// True if the node was given to the asking backend, so that it may compute the node as part of a pattern.
  [[nodiscard]] constexpr bool mine(NodeId node) const noexcept { return node != no_id && backend_of[node] == self; }
  /// True if the node is one the asking backend was given, and is a call of `target`.
  [[nodiscard]] constexpr bool mine(NodeId node, std::string_view target) const noexcept {
    return mine(node) && graph.is(graph.nodes[node].target, target);
  }
};

/// One node of an EmbedGraph, with its arguments by their names in the operator's schema.
struct EmbedNode {
  const EmbedGraph& g;
  NodeId id = no_id;

  [[nodiscard]] constexpr const Node& node() const noexcept { return g.graph.nodes.data()[id]; }
  [[nodiscard]] constexpr std::string_view target() const noexcept { return g.graph.target(node()); }
  /// A number that the backend keeps for all nodes of this operator, 0 at first: where it found the operator in its
  /// table.
  [[nodiscard]] constexpr std::uint16_t& note() const noexcept { return g.notes[node().target.first]; }
  /// The output at that position; no_id if it has none there.
  [[nodiscard]] constexpr ValueId output(std::uint32_t i = 0) const noexcept {
    const Range outputs = node().outputs;
    if (i >= outputs.count) return no_id;
    const Argument& a = g.graph.arguments.data()[outputs.first + i];
    return a.is_value() ? a.value() : no_id;
  }
  /// True if some node or graph output reads that output.
  [[nodiscard]] constexpr bool uses_output(std::uint32_t i) const noexcept {
    return output(i) != no_id && g.users[output(i)] != 0;
  }
  /// The argument, or nullptr if the call leaves it at its default.
  [[nodiscard]] constexpr const Argument* argument(std::string_view name) const noexcept {
    return g.graph.find_input(node(), name);
  }
  /// The tensor argument of that name; no_id if it is absent or None.
  [[nodiscard]] constexpr ValueId value(std::string_view name) const noexcept {
    const Argument* a = argument(name);
    return a != nullptr && a->is_value() ? a->value() : no_id;
  }
  [[nodiscard]] constexpr std::int64_t integer(std::string_view name, std::int64_t fallback = 0) const noexcept {
    const Argument* a = argument(name);
    return a == nullptr || a->kind == ArgumentKind::none ? fallback : integer_of(*a);
  }
  /// A Scalar or float argument.
  [[nodiscard]] constexpr double number(std::string_view name, double fallback = 0) const noexcept {
    const Argument* a = argument(name);
    if (a == nullptr || a->kind == ArgumentKind::none) return fallback;
    return a->kind == ArgumentKind::float_ ? a->float_value() : static_cast<double>(integer_of(*a));
  }
  [[nodiscard]] constexpr bool flag(std::string_view name, bool fallback = false) const noexcept {
    return integer(name, fallback ? 1 : 0) != 0;
  }
  /// How many items a list argument has; 0 if it is absent or None.
  [[nodiscard]] constexpr std::uint32_t count(std::string_view name) const noexcept {
    const Argument* a = argument(name);
    return a != nullptr && a->is_list() ? a->items.count : 0;
  }
  /// A list of N integers; one item stands for N (as in int[2]), none for the fallback.
  template <std::size_t N>
  [[nodiscard]] constexpr std::array<std::int64_t, N> integers(std::string_view name,
                                                               std::int64_t fallback) const noexcept {
    std::array<std::int64_t, N> list{};
    const Argument* a = argument(name);
    const std::uint32_t given = count(name);
    for (std::size_t i = 0; i < N; ++i) {
      if (given != 0)
        list[i] = integer_of(g.graph.args(a->items)[given == 1 ? 0 : i < given ? i : given - 1]);
      else
        list[i] = a != nullptr && a->kind == ArgumentKind::int_ ? a->payload : fallback;
    }
    return list;
  }
  [[nodiscard]] constexpr std::int64_t integer_of(const Argument& a) const noexcept {
    if (a.is_value()) return g.graph.values[a.value()].constant;
    if (a.kind == ArgumentKind::float_) return static_cast<std::int64_t>(a.float_value());
    return a.payload;
  }
};

}  // namespace davit
