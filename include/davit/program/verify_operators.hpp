// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/call_schema.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/violations.hpp"

namespace davit {

/// Options of verify().
struct VerifyOptions {
  bool allow_unknown_operators = false;  ///< accept ATen operators without a schema in ops/
  bool calls = true;                     ///< check calls against their schemas, at run time
};

namespace detail {

/// Checks that the operator of a node is known, or of a custom namespace.
template <class = void>
constexpr void verify_operator(const GraphModuleView& graph, NodeId id, VerifyOptions options, Violations& report) {
  const std::string_view target = graph.target(graph.nodes[id]);
  if (target.starts_with('#') && target.find(':') != std::string_view::npos) return;
  const std::size_t first = target.find('.');
  const std::size_t last = target.rfind('.');
  if (first == std::string_view::npos || first == 0 || last + 1 == target.size()) {
    report.violation(report.place(id), concat("'", target, "' is no operator name"),
                     "an operator is written namespace.name.overload");
    return;
  }
  const std::string_view space = target.substr(0, first);
  if (space == "higher_order") return;
  if (space == "_operator" || space == "torch") {
    if (find_operator(target).empty())
      report.violation(report.place(id), concat("'", target, "' is not an operation on symbolic numbers"));
    return;
  }
  if (first == last) {
    report.violation(report.place(id), concat("'", target, "' has no overload"),
                     "an operator is written namespace.name.overload");
    return;
  }
  if (space == "aten" && !options.allow_unknown_operators && find_operator(target).empty())
    report.violation(report.place(id), concat("'", target, "' is not an operator davit knows"),
                     "decompose it with run_decompositions(), or allow unknown operators if a backend takes it");
}

/// Checks calls against the schemas of their operators. Calls of operators without a schema may be anything.
class CallVerifier {
 public:
  CallVerifier(const GraphModuleView& graph, Violations& report) : graph_(graph), report_(report) {}

  /// Checks one node. O(arguments * parameters); the first call of an operator also its schema.
  void check(NodeId id) {
    const Node& node = graph_.nodes[id];
    const OperatorCall call = operator_call(graph_, node);
    if (!call.target.starts_with("aten.")) return;
    Known& known = known_[(node.target.first ^ (node.target.first >> 8)) % known_.size()];
    if (known.target != call.target) {
      known.target = call.target;
      known.text = find_operator(call.target);
      if (!known.text.empty()) known.schema = parse_schema(known.text);
    }
    if (known.text.empty()) return;
    // a number stands for a tensor in arithmetic and comparisons: add(x, 2)
    const ShapeRule shape = facts_of(known.schema.name).shape;
    const bool takes_number = shape == ShapeRule::promoted || shape == ShapeRule::quotient ||
                              shape == ShapeRule::comparison || shape == ShapeRule::where ||
                              known.text.find("Tensor other") != std::string_view::npos;
    if (Name wrong = call_mismatch(graph_, call.inputs, known.schema, takes_number); !wrong.empty())
      report_.violation(report_.place(id), concat(wrong, "; the operator is ", known.text));
  }

 private:
  struct Known {
    std::string_view target{};
    std::string_view text{};
    OperatorSchema schema{};
  };
  const GraphModuleView& graph_;
  Violations& report_;
  std::array<Known, 64> known_{};  // by the position of a target's text, which a program stores once
};

/// True if the argument is a sub-graph, or a list with one in it.
template <class = void>
[[nodiscard]] constexpr bool holds_graph(const GraphModuleView& g, const Argument& a) {
  if (a.is_list())
    for (const Argument& item : g.args(a.items))
      if (holds_graph(g, item)) return true;
  return a.kind == ArgumentKind::graph;
}

/// Checks that sub-graphs have as many inputs and outputs as their operator passes and returns.
template <class = void>
constexpr void verify_subgraphs(const GraphModuleView& g, NodeId id, Violations& report) {
  const Node& node = g.nodes[id];
  const std::string_view target = g.target(node);
  const std::span<const Argument> in = g.inputs(node);
  if (!target.starts_with("higher_order.")) {
    for (const Argument& a : in)
      if (holds_graph(g, a)) report.violation(report.place(id), "it takes no sub-graph");
    return;
  }
  const auto count = [&](std::size_t i) -> std::size_t {
    return i < in.size() && in[i].is_list() ? in[i].items.count : 0;
  };
  std::size_t results = 0;
  for (const Argument& output : g.outputs(node)) results += output.is_list() ? output.items.count : 1;
  const auto graph_at = [&](std::size_t i) -> const Graph* {
    if (i < in.size() && in[i].kind == ArgumentKind::graph) return &g.graphs[in[i].graph()];
    report.violation(report.place(id), concat("argument ", i, " must be a sub-graph"));
    return nullptr;
  };
  const auto expect = [&](const Graph* graph, std::size_t inputs, std::size_t outputs) {
    if (graph == nullptr) return;
    if (graph->inputs.count != inputs)
      report.violation(report.place(id), concat("sub-graph '", g.str(graph->name), "' takes ", graph->inputs.count,
                                                " values, but the operator passes ", inputs));
    if (graph->outputs.count != outputs)
      report.violation(report.place(id), concat("sub-graph '", g.str(graph->name), "' returns ", graph->outputs.count,
                                                " values, but the operator returns ", outputs));
  };
  if (target == "higher_order.cond") {
    expect(graph_at(1), count(3), results);
    expect(graph_at(2), count(3), results);
  } else if (target == "higher_order.while_loop") {
    const std::size_t carried = count(2);
    expect(graph_at(0), carried + count(3), 1);
    expect(graph_at(1), carried + count(3), carried);
    if (results != carried) report.violation(report.place(id), "it must return one value per carried input");
  } else if (target == "higher_order.map_impl") {
    std::size_t extras = 0;  // positional, or one list
    for (std::size_t i = 2; i < in.size(); ++i) extras += in[i].is_list() ? in[i].items.count : 1;
    expect(graph_at(0), count(1) + extras, results);
  } else if (target == "higher_order.scan") {
    std::size_t additional = 0;
    for (std::size_t i = 3; i < in.size(); ++i) additional += count(i);
    expect(graph_at(0), count(1) + count(2) + additional, results);
  }
}

}  // namespace detail

}  // namespace davit
