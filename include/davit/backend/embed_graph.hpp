// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backend/static_constant.hpp"
#include "davit/backend/static_rows.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit {

struct EmbedNode;

/// A backend's view of a static program in constant evaluation: the graph, its constants, and the nodes assigned to the
/// backend. Sizes are numbers: symbols are already bound. Trivially copyable.
struct EmbedGraph {
  static constexpr std::uint8_t unassigned = 255;
  static constexpr std::uint8_t probing = 254;

  StaticGraph graph;
  const StaticInput* inputs = nullptr;       ///< per graph input
  const std::uint8_t* is_output = nullptr;   ///< per value: 1 if it is a graph output
  const std::uint8_t* backend_of = nullptr;  ///< per node; `unassigned` everywhere while nodes are being assigned
  std::uint8_t self = unassigned;
  // members of `graph`, which never changes
  const std::int64_t* sizes = graph.sizes;
  const StaticValue* values = graph.values;
  const StaticArgument* arguments = graph.arguments;
  const StaticNode* nodes = graph.nodes;
  bool has_literals = graph.has_literals;

  [[nodiscard]] constexpr ScalarType dtype(ValueId v) const noexcept { return values[v].dtype; }
  [[nodiscard]] constexpr std::uint32_t rank(ValueId v) const noexcept { return values[v].rank; }
  /// Size of dimension d, which must exist; a negative d counts from the end.
  [[nodiscard]] constexpr std::int64_t size(ValueId v, std::int64_t d) const noexcept {
    const StaticValue& value = values[v];
    return sizes[value.first_size + static_cast<std::uint32_t>(d < 0 ? d + value.rank : d)];
  }
  [[nodiscard]] constexpr std::int64_t numel(ValueId v) const noexcept { return values[v].numel; }
  /// Number of reads of the value by live nodes and graph outputs.
  [[nodiscard]] constexpr std::uint32_t users(ValueId v) const noexcept { return values[v].users; }
  [[nodiscard]] constexpr bool same_sizes(ValueId a, ValueId b) const noexcept {
    const StaticValue &of_a = values[a], &of_b = values[b];
    if (of_a.rank != of_b.rank) return false;
    if (of_a.first_size == of_b.first_size) return true;
    for (std::uint32_t d = 0; d < of_a.rank; ++d)
      if (sizes[of_a.first_size + d] != sizes[of_b.first_size + d]) return false;
    return true;
  }

  /// Returns the graph input of a constant value; nullptr if the value is not a constant.
  [[nodiscard]] constexpr const StaticInput* constant(ValueId v) const noexcept {
    const std::int32_t source = values[v].source;
    return source < 0 && inputs[-1 - source].role == StaticRole::constant ? inputs + (-1 - source) : nullptr;
  }
  /// Returns the elements of a constant, if constant evaluation can read them; else nullptr. T must be its dtype.
  template <class T>
  [[nodiscard]] constexpr const T* elements(ValueId v) const noexcept {
    const StaticInput* input = constant(v);
    return input != nullptr && input->data.is_array() && dtype(v) == scalar_type_of<T> ? input->data.as<T>() : nullptr;
  }

  /// True while nodes are being assigned: is_assigned() is false for all, and `embed` judges a node alone.
  [[nodiscard]] constexpr bool is_probing() const noexcept { return self == probing; }
  /// The node that computes the value; no_id for a graph input.
  [[nodiscard]] constexpr NodeId producer(ValueId v) const noexcept {
    return values[v].source < 0 ? no_id : static_cast<NodeId>(values[v].source);
  }
  /// True if the node is assigned to the asking backend, so that it may compute the node as part of a pattern.
  [[nodiscard]] constexpr bool is_assigned(NodeId node) const noexcept {
    return node != no_id && backend_of[node] == self;
  }
  /// True if the node is assigned to the asking backend and is a call of `target`.
  [[nodiscard]] constexpr bool is_assigned(NodeId node, const char* target) const noexcept {
    return is_assigned(node) && is(node, target);
  }
  /// True if the node is a call of `target`.
  [[nodiscard]] constexpr bool is(NodeId node, const char* target) const noexcept {
    const char* const name = nodes[node].target;
    return has_literals ? __builtin_strcmp(name, target) == 0 : same_characters(name, target);
  }
  /// @name The graph interface of operators/folds.hpp.
  /// @{
  [[nodiscard]] constexpr EmbedNode call(NodeId node) const noexcept;
  [[nodiscard]] constexpr NodeId foldable_producer(ValueId v) const noexcept {
    return is_assigned(producer(v)) ? producer(v) : no_id;
  }
  [[nodiscard]] constexpr bool is_single(ValueId v) const noexcept { return users(v) == 1; }
  /// @}
};

/// One node of an EmbedGraph; arguments have their names in the operator's schema.
struct EmbedNode {
  const EmbedGraph& g;
  NodeId id = no_id;

  [[nodiscard]] constexpr const StaticNode& node() const noexcept { return g.nodes[id]; }
  [[nodiscard]] constexpr std::string_view target() const noexcept { return node().target; }
  /// True if the node is a call of `target`. In constant evaluation cheaper than a comparison of target().
  [[nodiscard]] constexpr bool is(const char* target) const noexcept { return g.is(id, target); }
  /// The output at that position; no_id if there is none.
  [[nodiscard]] constexpr ValueId output(std::uint32_t i = 0) const noexcept {
    const StaticNode& node = g.nodes[id];
    if (i >= node.outputs) return no_id;
    const StaticArgument& a = g.arguments[node.first_output + i];
    return a.kind == ArgumentKind::value ? static_cast<ValueId>(a.payload) : no_id;
  }
  /// True if a node or graph output reads output i.
  [[nodiscard]] constexpr bool uses_output(std::uint32_t i) const noexcept {
    const ValueId v = output(i);
    return v != no_id && g.values[v].users != 0;
  }
  /// The argument; nullptr if the call omits it, so that it has its default.
  [[nodiscard]] constexpr const StaticArgument* argument(const char* name) const noexcept {
    const StaticNode& node = g.nodes[id];
    const StaticArgument* a = g.arguments + node.first_input;
    std::uint32_t i = node.inputs;
    if (g.has_literals) {
      for (; i > 0; --i, ++a)
        if (__builtin_strcmp(a->name, name) == 0) return a;
    } else {
      for (; i > 0; --i, ++a)
        if (same_characters(a->name, name)) return a;
    }
    return nullptr;
  }
  /// @name The call interface of operators::read_.... An argument is usually at its position in the schema.
  /// @{
  [[nodiscard]] constexpr const StaticArgument* find(operators::Parameter p) const noexcept {
    const StaticNode& node = g.nodes[id];
    const StaticArgument* a = g.arguments + node.first_input + p.position;
    const bool there = p.position < node.inputs &&
                       (g.has_literals ? __builtin_strcmp(a->name, p.name) == 0 : same_characters(a->name, p.name));
    if (!there) a = argument(p.name);
    return a == nullptr || a->kind == ArgumentKind::none ? nullptr : a;
  }
  [[nodiscard]] constexpr ValueId value(operators::Parameter p) const noexcept {
    const StaticArgument* a = find(p);
    return a != nullptr && a->kind == ArgumentKind::value ? static_cast<ValueId>(a->payload) : no_id;
  }
  [[nodiscard]] constexpr std::span<const StaticArgument> items(const StaticArgument& a) const noexcept {
    if (a.kind != ArgumentKind::list) return {};
    return {g.arguments + a.payload, a.count};
  }
  [[nodiscard]] static constexpr bool read_integer(const StaticArgument& a, std::int64_t& out) noexcept {
    if (a.kind != ArgumentKind::int_ && a.kind != ArgumentKind::bool_) return false;
    out = a.payload;
    return true;
  }
  [[nodiscard]] static constexpr bool read_number(const StaticArgument& a, double& out) noexcept {
    if (a.kind == ArgumentKind::float_) {
      out = a.float_value();
      return true;
    }
    if (a.kind != ArgumentKind::int_ && a.kind != ArgumentKind::bool_) return false;
    out = static_cast<double>(a.payload);
    return true;
  }
  [[nodiscard]] constexpr std::string_view text(const StaticArgument& a) const noexcept {
    return a.kind == ArgumentKind::string ? g.graph.strings[a.payload] : std::string_view();
  }
  [[nodiscard]] constexpr std::uint32_t rank(ValueId v) const noexcept { return g.rank(v); }
  [[nodiscard]] constexpr std::int64_t size(ValueId v, std::size_t d) const noexcept {
    return g.sizes[g.values[v].first_size + d];
  }
  /// @}
  /// The items of a list argument; empty if it is absent or not a list.
  [[nodiscard]] constexpr std::span<const StaticArgument> items(const char* name) const noexcept {
    const StaticArgument* a = argument(name);
    if (a == nullptr || a->kind != ArgumentKind::list) return {};
    return {g.arguments + a->payload, a->count};
  }
  /// A string argument; empty if it is absent or not a string.
  [[nodiscard]] constexpr std::string_view string(const char* name) const noexcept {
    const StaticArgument* a = argument(name);
    return a != nullptr && a->kind == ArgumentKind::string ? g.graph.strings[a->payload] : std::string_view();
  }
  /// The tensor argument of that name; no_id if it is absent or None.
  [[nodiscard]] constexpr ValueId value(const char* name) const noexcept {
    const StaticArgument* a = argument(name);
    return a != nullptr && a->kind == ArgumentKind::value ? static_cast<ValueId>(a->payload) : no_id;
  }
  [[nodiscard]] constexpr std::int64_t integer(const char* name, std::int64_t fallback = 0) const noexcept {
    const StaticArgument* a = argument(name);
    return a == nullptr || a->kind == ArgumentKind::none ? fallback : integer_of(*a);
  }
  /// A Scalar or float argument.
  [[nodiscard]] constexpr double number(const char* name, double fallback = 0) const noexcept {
    const StaticArgument* a = argument(name);
    if (a == nullptr || a->kind == ArgumentKind::none) return fallback;
    return a->kind == ArgumentKind::float_ ? a->float_value() : static_cast<double>(integer_of(*a));
  }
  [[nodiscard]] constexpr bool flag(const char* name, bool fallback = false) const noexcept {
    return integer(name, fallback ? 1 : 0) != 0;
  }
  /// Number of items of a list argument; 0 if it is absent or None.
  [[nodiscard]] constexpr std::uint32_t count(const char* name) const noexcept {
    const StaticArgument* a = argument(name);
    return a != nullptr && a->kind == ArgumentKind::list ? a->count : 0;
  }
  /// A list of N integers; one item is repeated N times (as in int[2]), an empty list gives the fallback.
  template <std::size_t N>
  [[nodiscard]] constexpr std::array<std::int64_t, N> integers(const char* name, std::int64_t fallback) const noexcept {
    std::array<std::int64_t, N> list;
    std::int64_t* const numbers = list.data();
    const StaticArgument* const a = argument(name);
    if (a != nullptr && a->kind == ArgumentKind::list && a->count != 0) {
      const StaticArgument* const items = g.arguments + a->payload;
      const std::uint32_t last = a->count - 1;
      for (std::size_t i = 0; i < N; ++i) numbers[i] = integer_of(items[i < last ? i : last]);
    } else {
      const std::int64_t number = a != nullptr && a->kind == ArgumentKind::int_ ? a->payload : fallback;
      for (std::size_t i = 0; i < N; ++i) numbers[i] = number;
    }
    return list;
  }
  /// The integer of an argument; 0 for a value, whose number is not known.
  [[nodiscard]] static constexpr std::int64_t integer_of(const StaticArgument& a) noexcept {
    if (a.kind == ArgumentKind::value) return 0;
    return a.kind == ArgumentKind::float_ ? static_cast<std::int64_t>(a.float_value()) : a.payload;
  }
};

static_assert(operators::CallArguments<EmbedNode>);

constexpr EmbedNode EmbedGraph::call(NodeId node) const noexcept { return {*this, node}; }

}  // namespace davit
