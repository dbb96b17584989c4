// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/backend/embed_contract.hpp"
#include "davit/core/table.hpp"
#include "davit/embed/control_steps.hpp"

namespace davit {

/// A node that no backend takes, with one reason per backend.
struct OrphanNode {
  NodeId node = no_id;
  std::vector<const char*> reasons;  ///< nullptr: the backend took it
};

/// The backend of each node of a static program, and all steps in the order of execution.
struct SelectedSteps {
  StepTables tables;
  Table<std::uint8_t> backend_of;  ///< per node
  std::vector<OrphanNode> orphans;
  std::vector<NodeId> unwritten;  ///< nodes with a used output that their backend did not write
};

namespace detail {

/// True if no output of the node has an element: there is nothing to compute, and kernels need not handle such tensors.
[[nodiscard]] constexpr bool is_empty(const StaticGraph& graph, NodeId n) {
  bool empty = graph.nodes[n].outputs != 0;
  graph.for_each_output(n, [&](ValueId v) { empty = empty && graph.values[v].numel == 0; });
  return empty;
}

/// The reason why `B` does not take the node by itself, or nullptr.
template <class B>
constexpr const char* refusal(const EmbedNode& node, StepTables& trial) {
  if constexpr (requires {
                  { B::refuses(node) } -> std::same_as<const char*>;
                }) {
    return B::refuses(node);
  } else {
    if (trial.needs.empty()) {
      trial.needs = Table<std::uint8_t>(node.g.graph.value_count);
      trial.tags = Table<std::uint8_t>(node.g.graph.value_count);
    }
    StepWriter writer(trial, node.g, node.id);
    const char* reason = B::embed(node, writer);
    trial.steps.clear();
    trial.operands.clear();
    trial.params.clear();
    trial.temporaries.clear();
    trial.aliases.clear();
    trial.tables = {};
    return reason;
  }
}

/// Distributes nodes to backends and collects their steps.
template <class... Bs>
class StepSelector {
 public:
  constexpr StepSelector(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs)
      : graph_(graph),
        inputs_(inputs),
        nodes_(graph.nodes),
        arguments_(graph.arguments),
        is_output_(graph.value_count) {
    StepTables& tables = selected_.tables;
    tables.needs = Table<std::uint8_t>(graph.value_count);
    tables.tags = Table<std::uint8_t>(graph.value_count);
    for (std::uint32_t i = 0; i < graph.output_count; ++i) {
      const ValueId v = graph.outputs[i];
      if (v == no_id || outputs[i].role == StaticOutputRole::unused) continue;
      is_output_[v] = 1;
      tables.needs[v] = StepTables::needed_by_some;
    }
    selected_.backend_of = Table<std::uint8_t>(graph.node_count);
    for (std::size_t b = 0; b < sizeof...(Bs); ++b) own_[b] = seen(selected_.backend_of, static_cast<std::uint8_t>(b));
    ControlSteps<StepSelector>::pin(graph, is_output_);
    if constexpr (sizeof...(Bs) > 1) {
      unassigned_ = Table<std::uint8_t>(graph.node_count, EmbedGraph::unassigned);
      tried_ = seen(unassigned_, EmbedGraph::probing);
    }
  }

  constexpr SelectedSteps run() {
    const std::uint32_t nodes = graph_.node_count;
    if constexpr (sizeof...(Bs) > 1) hand_out(nodes);
    StepTables& tables = selected_.tables;
    tables.steps.reserve(nodes);
    tables.groups.reserve(nodes);
    tables.operands.reserve(std::size_t{4} * nodes);
    tables.params.reserve(std::size_t{16} * nodes);
    if (graph_.graph_count == 0)
      visit(0, nodes);
    else
      visit(graph_.graphs[0].first_node, graph_.graphs[0].nodes);
    put_in_order();
    return std::move(selected_);
  }

 private:
  friend ControlSteps<StepSelector>;

  /// Writes the live nodes of a range, from the last to the first.
  constexpr void visit(NodeId first, std::uint32_t count) {
    for (NodeId n = first + count; n-- > first;) {
      if (nodes_[n].outputs == 0 && is_static_assertion(nodes_[n].target))
        control_of(n, true);
      else if (graph_.graph_count != 0 && ControlSteps<StepSelector>::is_control_flow(graph_, n))
        control_of(n, has_output(n, StepTables::needed_by_some));
      else if (is_empty(graph_, n))
        leave_empty(n);
      else if (has_output(n, StepTables::needed_by_some))
        write(n);
      else if (sizeof...(Bs) == 1 && is_dead(n))
        selected_.backend_of[n] = EmbedGraph::unassigned;
    }
  }
  /// Control flow and assertions belong to no backend.
  constexpr void control_of(NodeId n, bool needed) {
    selected_.backend_of[n] = EmbedGraph::unassigned;
    ControlSteps<StepSelector> control(*this, n);
    if (!needed) return control.leave_out();
    const char* refused = control.write();
    if (refused == nullptr) return;
    OrphanNode orphan{.node = n, .reasons = {}};
    for (std::size_t b = 0; b < sizeof...(Bs); ++b) orphan.reasons.push_back(refused);
    selected_.orphans.push_back(std::move(orphan));
    for (std::uint32_t i = 0; i < nodes_[n].inputs; ++i)
      graph_.for_each_value(arguments_[nodes_[n].first_input + i], [&](ValueId v) { selected_.tables.need(v); });
  }
  [[nodiscard]] constexpr EmbedGraph seen(const Table<std::uint8_t>& backend_of, std::uint8_t self) noexcept {
    return {graph_, inputs_, is_output_.data(), backend_of.data(), self};
  }

  /// Gives each live node to the first backend that takes it. A single backend gets all of them, and refuses when it
  /// writes.
  constexpr void hand_out(std::uint32_t nodes) {
    for (NodeId n = 0; n < nodes; ++n) {
      std::uint8_t index = 0;
      const bool taken = !is_dead(n) && !is_empty(graph_, n) && ((ask<Bs>(n) == nullptr || (++index, false)) || ...);
      selected_.backend_of[n] = taken ? index : EmbedGraph::unassigned;
    }
  }
  template <class B>
  constexpr const char* ask(NodeId n) {
    return refusal<B>(EmbedNode{tried_, n}, trial_);
  }
  /// True if no output of the node is read.
  [[nodiscard]] constexpr bool is_dead(NodeId n) const {
    bool dead = true;
    graph_.for_each_output(n, [&](ValueId v) { dead = dead && graph_.values[v].users == 0; });
    return dead;
  }
  constexpr void leave_empty(NodeId n) {
    selected_.backend_of[n] = EmbedGraph::unassigned;
    graph_.for_each_output(n, [&](ValueId v) { selected_.tables.needs[v] = StepTables::written; });
  }
  /// True if one of the node's outputs has that state.
  [[nodiscard]] constexpr bool has_output(NodeId n, StepTables::Need state) const {
    const std::uint8_t* const needs = selected_.tables.needs.data();
    const StaticArgument* a = arguments_ + nodes_[n].first_output;
    bool any = false;
    for (std::uint32_t i = nodes_[n].outputs; i > 0 && !any; --i, ++a) {
      if (a->kind == ArgumentKind::value) any = needs[a->payload] == state;
      if (a->kind == ArgumentKind::list) graph_.for_each_value(*a, [&](ValueId v) { any = any || needs[v] == state; });
    }
    return any;
  }

  constexpr void write(NodeId n) {
    StepTables& tables = selected_.tables;
    const auto first = static_cast<std::uint32_t>(tables.steps.size());
    const std::uint8_t backend = selected_.backend_of[n];
    const char* refused = "";
    std::uint8_t index = 0;
    const auto embed = [&]<class B>() {
      if (backend != index++) return;
      StepWriter writer(tables, own_[backend], n);
      refused = B::embed(EmbedNode{own_[backend], n}, writer);
    };
    (embed.template operator()<Bs>(), ...);
    if (refused != nullptr) return give_up(n, refused);
    if (has_output(n, StepTables::needed_by_some)) selected_.unwritten.push_back(n);
    if (tables.steps.size() > first)
      tables.groups.push_back({first, static_cast<std::uint32_t>(tables.steps.size()) - first});
  }
  constexpr void give_up(NodeId n, const char* refused) {
    OrphanNode orphan{.node = n, .reasons = {}};
    std::uint8_t index = 0;
    const auto reason = [&]<class B>() {
      orphan.reasons.push_back(index++ == selected_.backend_of[n] ? refused : ask<B>(n));
    };
    (reason.template operator()<Bs>(), ...);
    selected_.orphans.push_back(std::move(orphan));
    for (std::uint32_t i = 0; i < nodes_[n].inputs; ++i)
      graph_.for_each_value(arguments_[nodes_[n].first_input + i], [&](ValueId v) { selected_.tables.need(v); });
  }

  /// Reverses the steps, as nodes were visited last to first.
  constexpr void put_in_order() {
    StepTables& tables = selected_.tables;
    Table<StaticStep> ordered;
    ordered.reserve(tables.steps.size());
    for (std::size_t i = tables.groups.size(); i-- > 0;)
      ordered.append(tables.steps.data() + tables.groups[i].first, tables.groups[i].count);
    tables.steps = std::move(ordered);
  }

  StaticGraph graph_;
  const StaticInput* inputs_;
  const StaticNode* nodes_;
  const StaticArgument* arguments_;
  Table<std::uint8_t> is_output_;
  Table<std::uint8_t> unassigned_;
  std::array<EmbedGraph, sizeof...(Bs)> own_{};  // the graph for each backend's writing
  EmbedGraph tried_{};                           // the graph for all backends' refusals
  StepTables trial_;
  SelectedSteps selected_;
};

}  // namespace detail

/// Gives each live node to the first backend that takes it, and collects the backends' steps. One row of `inputs` and
/// `outputs` per graph input and output. O(nodes + edges) calls of the backends.
template <class... Bs>
[[nodiscard]] constexpr SelectedSteps select_steps(const StaticGraph& graph, const StaticInput* inputs,
                                                   const StaticOutput* outputs) {
  return detail::StepSelector<Bs...>(graph, inputs, outputs).run();
}

}  // namespace davit
