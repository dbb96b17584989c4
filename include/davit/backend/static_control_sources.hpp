// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/program/graph.hpp"

namespace davit {

/// True for an assertion on data, which static programs check.
[[nodiscard]] constexpr bool is_static_assertion(std::string_view target) noexcept {
  return target == "aten._assert_async.msg" || target == "aten._assert_async.default";
}

/// Sources of the inputs of a static program's sub-graphs.
struct StaticControlSources {
  enum Use : std::uint8_t { unused, called, shared };
  std::vector<std::uint8_t> uses;  ///< per graph: a Use; `called` if its inputs fit and only one node calls it
  std::vector<ValueId> same;       ///< per value: itself; for a sub-graph's input: the equal operand or loop output
  std::vector<NodeId> node_of;  ///< per value: for a sub-graph's input, the node that calls the sub-graph; else no_id
};

namespace detail {

/// Walks from the root through the sub-graphs.
class ControlSourceFinder {
 public:
  constexpr explicit ControlSourceFinder(GraphModuleView graph) : graph_(graph) {
    found_.uses.assign(graph.graphs.size(), StaticControlSources::unused);
    found_.node_of.assign(graph.values.size(), no_id);
    for (ValueId v = 0; v < graph.values.size(); ++v) found_.same.push_back(v);
  }
  constexpr StaticControlSources run() {
    found_.uses[root_graph] = StaticControlSources::shared;
    walk(root_graph, 0);
    return std::move(found_);
  }

 private:
  using List = std::span<const Argument>;
  static constexpr int max_depth = 64;

  constexpr void walk(GraphId graph, int depth) {
    const Range nodes = graph_.graphs[graph].nodes;
    for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) {
      const Node& node = graph_.nodes[n];
      const List in = graph_.inputs(node);
      const std::string_view target = graph_.target(node);
      if (depth == max_depth) return;
      if (target == "higher_order.cond" && in.size() >= 4) {
        bind(n, in[1], {}, items(in[3]), 0, depth);
        bind(n, in[2], {}, items(in[3]), 0, depth);
      } else if (target == "higher_order.while_loop" && in.size() >= 3) {
        const List more = in.size() > 3 ? items(in[3]) : List();
        bind(n, in[0], items(in[2]), more, 0, depth);
        bind(n, in[1], items(in[2]), more, 0, depth);
      } else if (target == "higher_order.map_impl" && in.size() >= 2) {
        bind(n, in[0], {}, in.size() > 2 ? items(in[2]) : List(), items(in[1]).size(), depth);
      } else if (target == "higher_order.scan" && in.size() >= 5) {
        bind(n, in[0], items(in[1]), in.size() > 5 ? items(in[5]) : List(), items(in[2]).size(), depth);
      }
    }
  }
  [[nodiscard]] constexpr List items(const Argument& a) const noexcept {
    return a.is_list() ? graph_.args(a.items) : List();
  }

  /// Binds the inputs of a body: loop-carried values, then `slices` values of its own, then operands unchanged.
  constexpr void bind(NodeId n, const Argument& body, List carried, List operands, std::size_t slices, int depth) {
    if (body.kind != ArgumentKind::graph || body.graph() >= graph_.graphs.size()) return;
    std::uint8_t& use = found_.uses[body.graph()];
    if (use != StaticControlSources::unused) {
      use = StaticControlSources::shared;
      return;
    }
    const List in = graph_.args(graph_.graphs[body.graph()].inputs);
    std::vector<ValueId> outputs;
    for (const Argument& a : graph_.outputs(graph_.nodes[n]))
      graph_.for_each_value(a, [&](ValueId v) { outputs.push_back(v); });
    if (in.size() != carried.size() + slices + operands.size() || outputs.size() < carried.size()) return;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!in[i].is_value() || (i >= carried.size() + slices && !operands[i - carried.size() - slices].is_value()))
        return;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const ValueId v = in[i].value();
      found_.node_of[v] = n;
      if (i < carried.size())
        found_.same[v] = outputs[i];
      else if (i >= carried.size() + slices)
        found_.same[v] = found_.same[operands[i - carried.size() - slices].value()];
    }
    use = StaticControlSources::called;
    walk(body.graph(), depth + 1);
  }

  GraphModuleView graph_;
  StaticControlSources found_;
};

}  // namespace detail

/// Finds the sources of all sub-graph inputs in a program's static form. A sub-graph that several nodes call, or whose
/// inputs do not fit, is left out of the static program. O(size of the program).
template <class = void>
[[nodiscard]] constexpr StaticControlSources static_control_sources(GraphModuleView graph) {
  return detail::ControlSourceFinder(graph).run();
}

}  // namespace davit
