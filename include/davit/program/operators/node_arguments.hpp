// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "davit/program/operator_call.hpp"
#include "davit/program/operators/arguments.hpp"
#include "davit/program/uses.hpp"

namespace davit::operators {

/// Arguments of a node of a program, by name, or by position if they have no names. Trivially copyable.
class NodeArguments {
 public:
  constexpr NodeArguments(GraphModuleView graph, NodeId node) noexcept
      : graph_(graph), node_(node), call_(operator_call(graph, graph.nodes[node])) {}
  /// Takes a node outside the graph whose arguments are in the graph: node() is no_id.
  constexpr NodeArguments(GraphModuleView graph, const Node& node) noexcept
      : graph_(graph), node_(no_id), call_(operator_call(graph, node)) {}

  [[nodiscard]] constexpr GraphModuleView graph() const noexcept { return graph_; }
  [[nodiscard]] constexpr NodeId node() const noexcept { return node_; }
  [[nodiscard]] constexpr const OperatorCall& call() const noexcept { return call_; }

  [[nodiscard]] constexpr bool is(const char* target) const noexcept { return call_.target == target; }
  /// nullptr if omitted or None.
  [[nodiscard]] constexpr const Argument* find(Parameter p) const noexcept {
    const std::string_view name = p.name;
    for (std::size_t i = 0; i < call_.inputs.size(); ++i) {
      const Argument& a = call_.inputs[i];
      if (graph_.str(a.name) == name || (a.name.size == 0 && i == p.position))
        return a.kind == ArgumentKind::none ? nullptr : &a;
    }
    return nullptr;
  }
  /// Returns the value argument; no_id if there is none.
  [[nodiscard]] constexpr ValueId value(Parameter p) const noexcept {
    const Argument* a = find(p);
    return a != nullptr && a->is_value() ? a->value() : no_id;
  }
  [[nodiscard]] constexpr std::span<const Argument> items(const Argument& a) const noexcept {
    return a.is_list() ? graph_.args(a.items) : std::span<const Argument>{};
  }
  [[nodiscard]] static constexpr bool read_integer(const Argument& a, std::int64_t& out) noexcept {
    if (a.kind != ArgumentKind::int_ && a.kind != ArgumentKind::bool_) return false;
    out = a.payload;
    return true;
  }
  [[nodiscard]] static constexpr bool read_number(const Argument& a, double& out) noexcept {
    if (a.kind == ArgumentKind::float_) {
      out = a.float_value();
      return true;
    }
    std::int64_t number = 0;
    if (!read_integer(a, number)) return false;
    out = static_cast<double>(number);
    return true;
  }
  [[nodiscard]] constexpr std::string_view text(const Argument& a) const noexcept {
    return a.kind == ArgumentKind::string ? graph_.string(a) : std::string_view{};
  }
  /// The rank in the program.
  [[nodiscard]] constexpr std::size_t rank(ValueId v) const noexcept { return graph_.values[v].sizes.count; }
  /// -1 if symbolic.
  [[nodiscard]] constexpr std::int64_t size(ValueId v, std::size_t d) const noexcept {
    const Dim& dim = graph_.dims_of(graph_.values[v].sizes)[d];
    return dim.is_static() ? dim.value : -1;
  }

  /// Returns `otherwise` if the argument is omitted; nullopt if it is not a number.
  [[nodiscard]] constexpr std::optional<double> number(Parameter p, double otherwise) const noexcept {
    double out = 0;
    return operators::read_number(*this, p, otherwise, out) ? std::optional(out) : std::nullopt;
  }
  [[nodiscard]] constexpr std::optional<std::int64_t> integer(Parameter p, std::int64_t otherwise) const noexcept {
    std::int64_t out = 0;
    return operators::read_integer(*this, p, otherwise, out) ? std::optional(out) : std::nullopt;
  }
  [[nodiscard]] constexpr bool flag(Parameter p, bool otherwise) const noexcept {
    return integer(p, otherwise ? 1 : 0).value_or(otherwise ? 1 : 0) != 0;
  }
  /// Reads a list of ints, or one int; an empty list if the argument is omitted. False if an item is not an int.
  [[nodiscard]] constexpr bool ints(Parameter p, std::vector<std::int64_t>& out) const {
    out.clear();
    const Argument* a = find(p);
    if (a == nullptr) return true;
    if (a->kind == ArgumentKind::int_) out.push_back(a->payload);
    for (const Argument& item : items(*a)) {
      if (item.kind != ArgumentKind::int_) return false;
      out.push_back(item.payload);
    }
    return a->is_list() || a->kind == ArgumentKind::int_;
  }

  [[nodiscard]] constexpr ValueId output(std::size_t i = 0) const noexcept {
    return i < call_.outputs.size() && call_.outputs[i].is_value() ? call_.outputs[i].value() : no_id;
  }
  /// True if a node or a graph output uses the value. O(1) with GraphModuleView::used (see used_values), else
  /// O(arguments of its graph).
  [[nodiscard]] constexpr bool is_used(ValueId v) const noexcept {
    if (graph_.used != nullptr) return graph_.used[v] != 0;
    const Graph& own = graph_.graphs[graph_.values[v].graph];
    bool used = false;
    const auto look = [&](const Argument& a) {
      graph_.for_each_value(a, [&](ValueId other) { used = used || other == v; });
    };
    for (const Node& n : graph_.nodes_of(own))
      for (const Argument& a : graph_.inputs(n)) look(a);
    for (const Argument& a : graph_.args(own.outputs)) look(a);
    return used;
  }
  /// True if only the first output is used.
  [[nodiscard]] constexpr bool uses_first_output_only() const noexcept {
    for (std::size_t i = 1; i < call_.outputs.size(); ++i)
      if (call_.outputs[i].is_value() && is_used(call_.outputs[i].value())) return false;
    return true;
  }

 private:
  GraphModuleView graph_;
  NodeId node_;
  OperatorCall call_;
};
static_assert(CallArguments<NodeArguments>);

/// The calls of a program, and the uses of its values.
struct ProgramCalls {
  GraphModuleView graph;
  Uses uses;

  [[nodiscard]] constexpr NodeArguments call(NodeId n) const noexcept { return {graph, n}; }
  /// Returns the producer of a value, for folding it into another node; no_id for a call with effects.
  [[nodiscard]] constexpr NodeId foldable_producer(ValueId v) const noexcept {
    const NodeId n = graph.values[v].producer;
    return n == no_id || has_effects(n) ? no_id : n;
  }
  [[nodiscard]] constexpr bool has_effects(NodeId n) const noexcept {
    return operator_call(graph, graph.nodes[n]).token != nullptr;
  }
  [[nodiscard]] constexpr bool is_single(ValueId v) const noexcept { return uses.is_single(v); }
};

}  // namespace davit::operators
