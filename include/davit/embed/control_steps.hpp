// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backend/embed_contract.hpp"
#include "davit/core/table.hpp"
#include "davit/embed/control_flow.hpp"

namespace davit::detail {

/// Writes the steps of a control-flow node or an assertion, last to first, as backends do. `Selector` visits the nodes
/// of sub-graphs.
///
/// A branch's results are moved to the node's outputs. The values that a loop carries live in the node's outputs from
/// before the loop on, where its bodies read them; a scan's rows are moved to their place as they are made. Source:
/// torch._higher_order_ops: cond, while_loop, map and generic_scan.
template <class Selector>
class ControlSteps {
 public:
  constexpr ControlSteps(Selector& selector, NodeId node) noexcept
      : selector_(selector),
        tables_(selector.selected_.tables),
        graph_(selector.graph_),
        node_(graph_.nodes[node]),
        id_(node),
        seen_{.graph = graph_, .self = static_cast<std::uint8_t>(selector.own_.size())} {}

  /// True if the node is control flow.
  [[nodiscard]] static constexpr bool is_control_flow(const StaticGraph& graph, NodeId n) noexcept {
    return graph.target(n).starts_with("higher_order.");
  }
  /// Marks the operands of control flow: backends must not keep them in a form of their own.
  static constexpr void pin(const StaticGraph& graph, Table<std::uint8_t>& is_output) {
    for (std::uint32_t g = 1; g < graph.graph_count; ++g)
      for (std::uint32_t i = 0; i < graph.graphs[g].outputs; ++i)
        graph.for_each_value(graph.arguments[graph.graphs[g].first_output + i], [&](ValueId v) { is_output[v] = 1; });
    for (NodeId n = 0; n < graph.node_count && graph.graph_count != 0; ++n)
      for (std::uint32_t i = 0; is_control_flow(graph, n) && i < graph.nodes[n].inputs; ++i)
        graph.for_each_value(graph.arguments[graph.nodes[n].first_input + i], [&](ValueId v) { is_output[v] = 1; });
  }

  /// Writes the node's steps; returns a reason if they cannot be written.
  constexpr const char* write() {
    if (is("higher_order.cond") && node_.inputs >= 4) return cond();
    if (is("higher_order.while_loop") && node_.inputs >= 3) return while_loop();
    if (is("higher_order.map_impl") && node_.inputs >= 2) return rounds(0, 1, 0, false);
    if (is("higher_order.scan") && node_.inputs >= 5 && is_number(argument(3)) && is_number(argument(4)))
      return rounds(1, 2, argument(3).payload, argument(4).payload != 0);
    if (is_static_assertion(node_.target)) return assertion();
    return "static programs do not run this control flow";
  }
  /// Marks a dead control-flow node and everything in its sub-graphs.
  constexpr void leave_out() {
    for (std::uint32_t i = 0; i < node_.inputs; ++i)
      if (argument(i).kind == ArgumentKind::graph) leave_out(body(i));
  }

 private:
  using Body = const StaticSubgraph*;

  [[nodiscard]] constexpr bool is(std::string_view target) const noexcept { return target == node_.target; }
  [[nodiscard]] constexpr const StaticArgument& argument(std::uint32_t i) const noexcept {
    return graph_.arguments[node_.first_input + i];
  }
  [[nodiscard]] constexpr Body body(std::uint32_t i) const noexcept {
    return argument(i).kind == ArgumentKind::graph ? graph_.graphs + argument(i).payload : nullptr;
  }
  [[nodiscard]] constexpr const StaticArgument& result(Body body, std::uint32_t i) const noexcept {
    return graph_.arguments[body->first_output + i];
  }
  [[nodiscard]] constexpr ValueId input(Body body, std::uint32_t i) const noexcept {
    return graph_.arguments[body->first_input + i].value();
  }
  [[nodiscard]] constexpr const StaticValue& value(ValueId v) const noexcept { return graph_.values[v]; }
  [[nodiscard]] constexpr std::uint32_t items(std::uint32_t i) const noexcept {
    return argument(i).is_list() ? argument(i).count : 0;
  }
  [[nodiscard]] constexpr const StaticArgument& item(std::uint32_t i, std::uint32_t k) const noexcept {
    return graph_.arguments[static_cast<std::size_t>(argument(i).payload) + k];
  }
  [[nodiscard]] constexpr Table<ValueId> outputs() const {
    Table<ValueId> all;
    graph_.for_each_output(id_, [&](ValueId v) { all.push_back(v); });
    return all;
  }
  [[nodiscard]] constexpr bool same_type(const StaticArgument& a, ValueId b) const noexcept {
    return a.is_value() && value(a.value()).dtype == value(b).dtype && value(b).dtype != ScalarType::undefined &&
           value(a.value()).numel == value(b).numel;
  }
  [[nodiscard]] static constexpr bool is_number(const StaticArgument& a) noexcept {
    return a.kind == ArgumentKind::int_ || a.kind == ArgumentKind::bool_;
  }
  [[nodiscard]] constexpr bool is_truth(const StaticArgument& a) const noexcept {
    return a.is_value() && value(a.value()).dtype == ScalarType::bool_ && value(a.value()).numel == 1;
  }
  [[nodiscard]] constexpr bool is_needed(ValueId v) const noexcept { return tables_.needs[v] != StepTables::unneeded; }

  constexpr void visit(Body body) { selector_.visit(body->first_node, body->nodes); }
  constexpr void leave_out(Body body) {
    for (NodeId n = body->first_node; n < body->first_node + body->nodes; ++n) {
      selector_.selected_.backend_of[n] = EmbedGraph::unassigned;
      if (is_control_flow(graph_, n)) ControlSteps(selector_, n).leave_out();
    }
  }

  /// Writes a group of steps in the order in which they run.
  template <class Write>
  constexpr void group(Write write) {
    const auto first = static_cast<std::uint32_t>(tables_.steps.size());
    write();
    if (tables_.steps.size() > first)
      tables_.groups.push_back({first, static_cast<std::uint32_t>(tables_.steps.size()) - first});
  }
  constexpr StepOperands mark(StaticControl control, std::int32_t number = 0) {
    StaticStep step{.node = id_, .backend = control_flow::marker, .control = control};
    step.operands.first = static_cast<std::uint32_t>(tables_.operands.size());
    step.params = {static_cast<std::uint32_t>(tables_.params.size()), 1};
    tables_.params.push_back(number);
    tables_.steps.push_back(step);
    return {tables_, tables_.steps.size() - 1, seen_};
  }
  template <class K>
  constexpr StepOperands step(const typename K::Params& params) {
    return StepWriter(tables_, seen_, id_).template step<K>(params);
  }
  constexpr void move(ValueId to, ValueId from) { step<control_flow::move>({elements(to)}).out(to).in(from); }
  [[nodiscard]] constexpr std::int32_t elements(ValueId v) const noexcept {
    return static_cast<std::int32_t>(value(v).numel);
  }

  constexpr const char* assertion() {
    if (node_.inputs == 0 || !argument(0).is_value() || value(argument(0).value()).numel != 1 ||
        value(argument(0).value()).dtype == ScalarType::undefined)
      return "it asserts a value that is not a tensor of one element";
    group([&] { step<control_flow::check>({}).in(argument(0).value()); });
    return nullptr;
  }

  constexpr const char* cond() {
    const Body sides[]{body(1), body(2)};
    if (sides[0] == nullptr || sides[1] == nullptr) return "a sub-graph of it does not fit, or is called elsewhere too";
    const Table<ValueId> out = outputs();
    for (const Body side : sides) {
      if (side->outputs != out.size()) return "its branches return another number of values";
      for (std::uint32_t k = 0; k < out.size(); ++k)
        if (is_needed(out[k]) && !same_type(result(side, k), out[k]))
          return "its branches return values of other sizes than it has: sizes that depend on data have no place in a "
                 "static program";
    }
    const auto moves = [&](Body side) {
      for (std::uint32_t k = 0; k < out.size(); ++k)
        if (is_needed(out[k])) move(out[k], result(side, k).value());
    };
    const StaticArgument& predicate = argument(0);
    if (is_number(predicate)) {  // a constant condition
      const int chosen = predicate.payload != 0 ? 0 : 1;
      group([&] { moves(sides[chosen]); });
      visit(sides[chosen]);
      leave_out(sides[1 - chosen]);
      return nullptr;
    }
    if (!is_truth(predicate)) return "its predicate is no bool tensor of one element";
    group([&] {
      moves(sides[1]);
      mark(StaticControl::join);
    });
    visit(sides[1]);
    group([&] {
      moves(sides[0]);
      mark(StaticControl::otherwise);
    });
    visit(sides[0]);
    group([&] { mark(StaticControl::branch).in(predicate.value()); });
    return nullptr;
  }

  /// Returns the reason why a loop cannot carry its values, whose initial values are the items of argument `list`; else
  /// nullptr.
  constexpr const char* carries(const Table<ValueId>& out, std::uint32_t list, Body body, std::uint32_t carried) const {
    for (std::uint32_t k = 0; k < carried; ++k)
      if (!same_type(item(list, k), out[k]) || !same_type(result(body, k), out[k]))
        return "a carried value is not a tensor, or changes its sizes, which are fixed in a static program";
    return nullptr;
  }
  constexpr void begin_carried(const Table<ValueId>& out, std::uint32_t list, std::uint32_t carried) {
    for (std::uint32_t k = 0; k < carried; ++k) move(out[k], item(list, k).value());
  }
  /// Moves new values to their places through temporaries, because one may be the current value of another place. The
  /// planner drops needless moves.
  constexpr void end_carried(const Table<ValueId>& out, Body body, std::uint32_t carried) {
    Table<std::uint32_t> aside;
    for (std::uint32_t k = 0; k < carried && carried > 1; ++k) {
      tables_.temporaries.push_back({value(out[k]).dtype, static_cast<std::uint32_t>(elements(out[k]))});
      aside.push_back(static_cast<std::uint32_t>(tables_.temporaries.size() - 1));
      step<control_flow::move>({elements(out[k])}).scratch(aside.back()).in(result(body, k).value());
    }
    for (std::uint32_t k = 0; k < carried; ++k) {
      if (carried == 1)
        move(out[k], result(body, k).value());
      else
        from_scratch(out[k], aside[k]);
    }
  }
  constexpr void from_scratch(ValueId to, std::uint32_t temporary) {
    step<control_flow::move>({elements(to)}).out(to).scratch(temporary);
  }

  constexpr const char* while_loop() {
    const Body condition = body(0), round = body(1);
    if (condition == nullptr || round == nullptr) return "a sub-graph of it does not fit, or is called elsewhere too";
    const Table<ValueId> out = outputs();
    const std::uint32_t carried = items(2);
    if (out.size() != carried || round->outputs != carried)
      return "its body returns another number of values than it carries";
    if (const char* wrong = carries(out, 2, round, carried)) return wrong;
    if (condition->outputs != 1 || !is_truth(result(condition, 0)))
      return "its condition is no bool tensor of one element";
    for (const ValueId v : out) tables_.needs[v] = StepTables::written;
    group([&] {
      end_carried(out, round, carried);
      mark(StaticControl::repeat);
    });
    visit(round);
    group([&] { mark(StaticControl::test).in(result(condition, 0).value()); });
    visit(condition);
    group([&] {
      begin_carried(out, 2, carried);
      mark(StaticControl::loop);
    });
    return nullptr;
  }

  /// map and scan: the arguments of carried values (0: none) and of sliced tensors.
  constexpr const char* rounds(std::uint32_t initial, std::uint32_t sliced, std::int64_t dim, bool reverse) {
    const Body round = body(0);
    if (round == nullptr) return "its sub-graph does not fit, or is called elsewhere too";
    const Table<ValueId> out = outputs();
    const std::uint32_t carried = initial == 0 ? 0 : items(initial), slices = items(sliced);
    if (slices == 0 || out.size() < carried || round->outputs != out.size())
      return "its body returns another number of values";
    if (const char* wrong = carries(out, initial, round, carried)) return wrong;
    std::int64_t count = -1;
    Table<control_flow::slice::Params> rows;
    for (std::uint32_t k = 0; k < slices; ++k) {
      if (!item(sliced, k).is_value()) return "it runs over a value that is not a tensor";
      const StaticValue& whole = value(item(sliced, k).value());
      const StaticValue& row = value(input(round, carried + k));
      const std::int64_t d = dim < 0 ? dim + whole.rank : dim;
      if (d < 0 || d >= whole.rank) return "it runs over a dimension that the tensor does not have";
      const std::int64_t length = graph_.sizes[whole.first_size + static_cast<std::size_t>(d)];
      if (count < 0) count = length;
      if (length != count || count == 0) return "the tensors it runs over have different lengths, or none";
      if (row.dtype != whole.dtype || row.numel != whole.numel / count) return "its body takes slices of other sizes";
      std::int64_t inner = 1;
      for (std::int64_t i = d + 1; i < whole.rank; ++i)
        inner *= graph_.sizes[whole.first_size + static_cast<std::size_t>(i)];
      const std::int64_t outer = inner == 0 ? 0 : row.numel / inner;
      rows.push_back({static_cast<std::int32_t>(outer), static_cast<std::int32_t>(count),
                      static_cast<std::int32_t>(inner), static_cast<std::int32_t>(reverse ? count - 1 : 0)});
    }
    for (std::uint32_t k = carried; k < out.size(); ++k) {
      const StaticArgument& made = result(round, k);
      if (is_needed(out[k]) && (!made.is_value() || value(made.value()).dtype != value(out[k]).dtype ||
                                value(made.value()).numel * count != value(out[k]).numel))
        return "its body returns rows of other sizes than it stacks";
    }
    tables_.temporaries.push_back({ScalarType::int32, 1});
    const auto at = static_cast<std::uint32_t>(tables_.temporaries.size() - 1);
    for (std::uint32_t k = 0; k < carried; ++k) tables_.needs[out[k]] = StepTables::written;
    group([&] {
      for (std::uint32_t k = carried; k < out.size(); ++k) {
        if (!is_needed(out[k])) continue;
        const ValueId made = result(round, k).value();
        step<control_flow::stack>({elements(made), static_cast<std::int32_t>(reverse ? count - 1 : 0)})
            .out(out[k])
            .in(made)
            .scratch(at);
      }
      end_carried(out, round, carried);
      mark(StaticControl::repeat).scratch(at);
    });
    visit(round);
    group([&] {
      for (std::uint32_t k = 0; k < slices; ++k) {
        const ValueId row = input(round, carried + k);
        if (is_needed(row)) step<control_flow::slice>(rows[k]).out(row).in(item(sliced, k).value()).scratch(at);
      }
    });
    group([&] {
      begin_carried(out, initial, carried);
      mark(StaticControl::count, static_cast<std::int32_t>(count)).scratch(at);
    });
    return nullptr;
  }

  Selector& selector_;
  StepTables& tables_;
  StaticGraph graph_;
  const StaticNode& node_;
  NodeId id_;
  EmbedGraph seen_;
};

}  // namespace davit::detail
