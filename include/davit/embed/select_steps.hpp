// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/embed_contract.hpp"
#include "davit/core/table.hpp"

namespace davit {

/// A node that no backend takes, and why not: one reason per backend.
struct OrphanNode {
  NodeId node = no_id;
  std::vector<const char*> reasons;  ///< nullptr: the backend took it
};

/// What becomes of a static program's nodes: who computes each, and by which steps, in the order of execution.
struct SelectedSteps {
  StepTables tables;
  Table<std::int64_t> numels;      ///< per value
  Table<std::uint8_t> backend_of;  ///< per node
  std::vector<OrphanNode> orphans;
  std::vector<NodeId> unwritten;  ///< nodes of which the backend left a used output unwritten
};

namespace detail {

/// What EmbedGraph's spans view, and what nodes are live.
struct EmbedTables {
  Table<std::uint32_t> input_of;
  Table<std::uint32_t> users;
  Table<std::uint8_t> is_output;
  Table<std::uint8_t> live;  // per node
};

constexpr EmbedTables embed_tables(GraphModuleView graph, std::span<const StaticOutput> outputs) {
  EmbedTables t{Table<std::uint32_t>(graph.values.size(), no_id), Table<std::uint32_t>(graph.values.size()),
                Table<std::uint8_t>(graph.values.size()), Table<std::uint8_t>(graph.nodes.size())};
  const Graph& root = graph.root();
  const Argument* const arguments = graph.arguments.data();
  const Argument* const inputs = arguments + root.inputs.first;
  std::uint32_t* const input_of = t.input_of.begin();
  for (std::uint32_t i = 0; i < root.inputs.count; ++i)
    if (inputs[i].kind == ArgumentKind::value) input_of[inputs[i].payload] = i;
  const Value* const values = graph.values.data();
  const Node* const nodes = graph.nodes.data();
  std::uint32_t* const users = t.users.begin();
  std::uint8_t* const live = t.live.begin();
  const auto use = [&](ValueId v) {
    ++users[v];
    if (values[v].producer != no_id) live[values[v].producer] = 1;
  };
  const Argument* const results = arguments + root.outputs.first;
  for (std::size_t i = 0; i < root.outputs.count; ++i) {
    if (!results[i].is_value() || (i < outputs.size() && outputs[i].role == StaticOutputRole::unused)) continue;
    t.is_output[results[i].value()] = 1;
    use(results[i].value());
  }
  for (NodeId n = root.nodes.first + root.nodes.count; n-- > root.nodes.first;) {
    if (live[n] == 0) continue;
    const Range list = nodes[n].inputs;
    for (const Argument* a = arguments + list.first; a != arguments + list.first + list.count; ++a) {
      if (a->kind == ArgumentKind::value) use(static_cast<ValueId>(a->payload));
      if (a->kind != ArgumentKind::list) continue;
      for (const Argument* item = arguments + a->items.first; item != arguments + a->items.first + a->items.count;
           ++item) {
        if (item->kind == ArgumentKind::value) use(item->value());
        if (item->kind == ArgumentKind::list) graph.for_each_value(*item, use);
      }
    }
  }
  return t;
}

/// Why `B` does not take the node by itself, or nullptr if it does.
template <class B>
constexpr const char* refusal(const EmbedNode& node, StepTables& trial) {
  if constexpr (requires {
                  { B::refuses(node) } -> std::same_as<const char*>;
                }) {
    return B::refuses(node);
  } else if constexpr (requires {
                         { B::refuses(node.g.graph, node.id) } -> std::same_as<const char*>;
                       }) {
    return B::refuses(node.g.graph, node.id);
  } else {
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

/// Hands nodes to backends and collects what they write.
template <class... Bs>
class StepSelector {
 public:
  constexpr StepSelector(GraphModuleView graph, std::span<const StaticInput> inputs,
                         std::span<const StaticOutput> outputs)
      : graph_(graph),
        inputs_(inputs),
        nodes_(graph.nodes.data()),
        arguments_(graph.arguments.data()),
        t_(embed_tables(graph, outputs)),
        nobody_(graph.nodes.size(), EmbedGraph::nobody),
        written_(graph.values.size()) {
    for (StepTables* tables : {&selected_.tables, &trial_}) {
      tables->needed = Table<std::uint8_t>(graph.values.size());
      tables->tags = Table<std::uint8_t>(graph.values.size());
    }
    selected_.numels = numel_table(graph);
    selected_.backend_of = Table<std::uint8_t>(graph.nodes.size(), EmbedGraph::nobody);
    for (std::size_t b = 0; b < sizeof...(Bs); ++b) {
      own_[b] = seen(selected_.backend_of, static_cast<std::uint8_t>(b));
      tried_[b] = seen(nobody_, EmbedGraph::on_trial);
    }
  }

  constexpr SelectedSteps run() {
    const Range nodes = graph_.root().nodes;
    hand_out(nodes);
    StepTables& tables = selected_.tables;
    tables.steps.reserve(nodes.count);
    tables.groups.reserve(nodes.count);
    tables.operands.reserve(std::size_t{4} * nodes.count);
    tables.params.reserve(std::size_t{16} * nodes.count);
    std::uint8_t* needed = tables.needed.begin();
    for (const std::uint8_t is_output : t_.is_output) *needed++ = is_output;
    for (NodeId n = nodes.first + nodes.count; n-- > nodes.first;)
      if (is_needed(n)) write(n);
    put_in_order();
    return std::move(selected_);
  }

 private:
  [[nodiscard]] constexpr EmbedGraph seen(const Table<std::uint8_t>& backend_of, std::uint8_t self) noexcept {
    return {graph_,
            inputs_.data(),
            t_.input_of.data(),
            t_.users.data(),
            t_.is_output.data(),
            backend_of.data(),
            selected_.numels.data(),
            self};
  }

  /// Each live node goes to the first backend that takes it. A single backend gets them all and is asked when it
  /// writes.
  constexpr void hand_out(Range nodes) {
    if constexpr (sizeof...(Bs) == 1) {
      for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n)
        if (t_.live[n] != 0) selected_.backend_of[n] = 0;
    } else {
      for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) {
        if (t_.live[n] == 0) continue;
        std::uint8_t index = 0;
        if (((ask<Bs>(n, index) == nullptr || (++index, false)) || ...)) selected_.backend_of[n] = index;
      }
    }
  }
  template <class B>
  constexpr const char* ask(NodeId n, std::size_t backend) {
    return refusal<B>(EmbedNode{tried_[backend], n}, trial_);
  }

  [[nodiscard]] constexpr bool is_needed(NodeId n) const noexcept {
    return any_output(n, [needed = selected_.tables.needed.data()](ValueId v) { return needed[v] != 0; });
  }

  /// True if `test` holds for one of the node's outputs.
  template <class Test>
  [[nodiscard]] constexpr bool any_output(NodeId n, Test test) const {
    const Range list = nodes_[n].outputs;
    const Argument* const end = arguments_ + list.first + list.count;
    bool any = false;
    for (const Argument* a = arguments_ + list.first; a != end && !any; ++a) {
      if (a->kind == ArgumentKind::value) any = test(static_cast<ValueId>(a->payload));
      if (a->kind == ArgumentKind::list) graph_.for_each_value(*a, [&](ValueId v) { any = any || test(v); });
    }
    return any;
  }

  constexpr void write(NodeId n) {
    StepTables& tables = selected_.tables;
    const auto first = static_cast<std::uint32_t>(tables.steps.size());
    const std::size_t operands = tables.operands.size();
    const std::size_t aliases = tables.aliases.size();
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
    std::uint8_t* const written = written_.begin();
    const StepOperand* const end = tables.operands.end();
    for (const StepOperand* o = tables.operands.begin() + operands; o != end; ++o)
      if (o->kind == StepOperand::Kind::output) written[o->id] = 1;
    for (std::size_t a = aliases; a < tables.aliases.size(); ++a) written[tables.aliases[a].value] = 1;
    const std::uint8_t* const needed = tables.needed.data();
    if (any_output(n, [needed, written](ValueId v) { return needed[v] != 0 && written[v] == 0; }))
      selected_.unwritten.push_back(n);
    if (tables.steps.size() > first)
      tables.groups.push_back({first, static_cast<std::uint32_t>(tables.steps.size()) - first});
  }
  constexpr void give_up(NodeId n, const char* refused) {
    OrphanNode orphan{.node = n, .reasons = {}};
    std::uint8_t index = 0;
    const auto reason = [&]<class B>() {
      orphan.reasons.push_back(index == selected_.backend_of[n] ? refused : ask<B>(n, index));
      ++index;
    };
    (reason.template operator()<Bs>(), ...);
    selected_.orphans.push_back(std::move(orphan));
    for (const Argument& a : graph_.inputs(graph_.nodes[n]))
      graph_.for_each_value(a, [&](ValueId v) { selected_.tables.needed[v] = 1; });
  }

  /// Nodes were visited last to first.
  constexpr void put_in_order() {
    StepTables& tables = selected_.tables;
    Table<StaticStep> ordered;
    ordered.reserve(tables.steps.size());
    for (std::size_t i = tables.groups.size(); i-- > 0;)
      ordered.append(tables.steps.data() + tables.groups[i].first, tables.groups[i].count);
    tables.steps = std::move(ordered);
  }

  GraphModuleView graph_;
  std::span<const StaticInput> inputs_;
  const Node* nodes_;
  const Argument* arguments_;
  EmbedTables t_;
  Table<std::uint8_t> nobody_;
  Table<std::uint8_t> written_;
  std::array<EmbedGraph, sizeof...(Bs)> own_{};    // as each backend sees the graph when it writes,
  std::array<EmbedGraph, sizeof...(Bs)> tried_{};  // and while nodes are being handed out
  StepTables trial_;
  SelectedSteps selected_;
};

}  // namespace detail

/// Hands the live nodes out to the backends, each to the first that takes it, and collects their steps. O(nodes +
/// edges) calls of the backends.
template <class... Bs>
[[nodiscard]] constexpr SelectedSteps select_steps(GraphModuleView graph, std::span<const StaticInput> inputs,
                                                   std::span<const StaticOutput> outputs) {
  return detail::StepSelector<Bs...>(graph, inputs, outputs).run();
}

}  // namespace davit
