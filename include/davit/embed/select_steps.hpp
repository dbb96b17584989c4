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
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_value()) t.input_of[inputs[i].value()] = i;
  const Value* const values = graph.values.data();
  const auto use = [&](ValueId v) {
    ++t.users[v];
    if (values[v].producer != no_id) t.live[values[v].producer] = 1;
  };
  const std::span<const Argument> results = graph.args(graph.root().outputs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].is_value() || (i < outputs.size() && outputs[i].role == StaticOutputRole::unused)) continue;
    t.is_output[results[i].value()] = 1;
    use(results[i].value());
  }
  const Range nodes = graph.root().nodes;
  const Argument* const arguments = graph.arguments.data();
  for (NodeId n = nodes.first + nodes.count; n-- > nodes.first;) {
    if (t.live[n] == 0) continue;
    const Range list = graph.nodes.data()[n].inputs;
    for (const Argument* a = arguments + list.first; a != arguments + list.first + list.count; ++a) {
      if (a->kind == ArgumentKind::value) use(a->value());
      if (a->kind == ArgumentKind::list) graph.for_each_value(*a, use);
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
        t_(embed_tables(graph, outputs)),
        nobody_(graph.nodes.size(), EmbedGraph::nobody),
        written_(graph.values.size()),
        notes_{(static_cast<void>(sizeof(Bs)), Table<std::uint16_t>(graph.text.size() + 1))...} {
    for (StepTables* tables : {&selected_.tables, &trial_}) {
      tables->needed = Table<std::uint8_t>(graph.values.size());
      tables->tags = Table<std::uint8_t>(graph.values.size());
    }
    selected_.numels = numel_table(graph);
    selected_.backend_of = Table<std::uint8_t>(graph.nodes.size(), EmbedGraph::nobody);
    for (std::size_t b = 0; b < sizeof...(Bs); ++b) {
      own_[b] = seen(selected_.backend_of, static_cast<std::uint8_t>(b), b);
      tried_[b] = seen(nobody_, EmbedGraph::on_trial, b);
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
    for (ValueId v = 0; v < t_.is_output.size(); ++v)
      if (t_.is_output[v] != 0) tables.needed[v] = 1;
    for (NodeId n = nodes.first + nodes.count; n-- > nodes.first;)
      if (is_needed(n)) write(n);
    put_in_order();
    return std::move(selected_);
  }

 private:
  [[nodiscard]] constexpr EmbedGraph seen(const Table<std::uint8_t>& backend_of, std::uint8_t self,
                                          std::size_t backend) noexcept {
    return {graph_,
            inputs_,
            {t_.input_of.data(), t_.input_of.size()},
            {t_.users.data(), t_.users.size()},
            {t_.is_output.data(), t_.is_output.size()},
            {backend_of.data(), backend_of.size()},
            selected_.numels.data(),
            self,
            notes_[backend].begin()};
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
    const Range list = graph_.nodes.data()[n].outputs;
    const Argument* const arguments = graph_.arguments.data();
    bool needed = false;
    for (std::uint32_t i = list.first; i < list.first + list.count; ++i) {
      if (arguments[i].kind == ArgumentKind::value)
        needed = needed || selected_.tables.needed[arguments[i].value()] != 0;
      if (arguments[i].kind == ArgumentKind::list)
        graph_.for_each_value(arguments[i], [&](ValueId v) { needed = needed || selected_.tables.needed[v] != 0; });
    }
    return needed;
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
    for (std::size_t o = operands; o < tables.operands.size(); ++o)
      if (tables.operands[o].kind == StepOperand::Kind::output) written_[tables.operands[o].id] = 1;
    for (std::size_t a = aliases; a < tables.aliases.size(); ++a) written_[tables.aliases[a].value] = 1;
    const Range list = graph_.nodes.data()[n].outputs;
    for (std::uint32_t i = list.first; i < list.first + list.count; ++i)
      graph_.for_each_value(graph_.arguments.data()[i], [&](ValueId v) {
        if (tables.needed[v] != 0 && written_[v] == 0) selected_.unwritten.push_back(n);
      });
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
  EmbedTables t_;
  Table<std::uint8_t> nobody_;
  Table<std::uint8_t> written_;
  std::array<Table<std::uint16_t>, sizeof...(Bs)> notes_;
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
