// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "davit/lowering/group_nodes.hpp"
#include "davit/lowering/partitioning.hpp"

namespace davit::testing {

/// Cuts a program exactly as another partitioner does, but sends every partition to one backend, as a reference for
/// comparisons. Nodes that the other partitioner leaves are grouped as in to_backend. O(nodes + edges), plus its work.
template <Partitioner P>
struct RedirectedPartitioner {
  using Backends = typename P::Backends;
  P partitioner;
  std::uint32_t backend = 0;  ///< index of the list

  [[nodiscard]] std::vector<std::uint32_t> preference() const
    requires requires(const P& p) { p.preference(); }
  {
    return partitioner.preference();
  }
  [[nodiscard]] Result<Partitioning<Backends>> partition(const Method& method) const {
    Result<Partitioning<Backends>> out = partitioner.partition(method);
    if (!out) return out;
    if (backend >= Backends::size)
      return std::unexpected(Error{.code = ErrorCode::out_of_range,
                                   .stage = Stage::partition,
                                   .where = "RedirectedPartitioner",
                                   .what = concat("there is no backend ", backend),
                                   .fix = concat("the list has: ", Backends::names())});
    add_rest(method.view(), *out);
    out->refusals.clear();
    for (Delegation& delegation : out->delegations) delegation = {.backend = backend};
    return out;
  }

 private:
  static void add_rest(GraphModuleView graph, Partitioning<Backends>& out) {
    std::vector<std::uint32_t> classes(graph.nodes.size(), no_id);
    bool any = false;
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      if (out.tags.nodes[n] != no_id || is_control_flow(graph, graph.nodes[n])) continue;
      classes[n] = 0;
      any = true;
    }
    const auto first = static_cast<TagId>(out.delegations.size());
    const QuotientGraph fixed = contract(graph, out.tags.nodes, first);
    const VertexOrder order = topological_order(fixed);
    if (!any || !order.cycle.empty()) return;  // to_backend reports the cycle
    const NodeGroups groups = group_nodes(graph, classes, 1, fixed, order.order);
    for (std::uint32_t g = 0; g < groups.count(); ++g)
      out.add(concat(Backends::name(Backends::size - 1), "_rest_", g), Delegation{});
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
      if (classes[n] == 0) out.tags.nodes[n] = first + groups.group_of_node[n];
  }
};

}  // namespace davit::testing
