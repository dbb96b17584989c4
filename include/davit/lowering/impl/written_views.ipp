// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/operator_call.hpp"

namespace davit::detail {

/// True if a backend before the last, which may answer a copy, has a view that another partition writes in place, and
/// the last one takes every node. What could be functionalized writes nothing in place. O(nodes * writers).
[[nodiscard]] bool cuts_written_views(GraphModuleView graph, const PartitionResult& partitioning,
                                      BackendTables backends) {
  const auto tag_of = [&](NodeId n) { return partitioning.tags.nodes[n]; };
  std::vector<TagId> writers;
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (writes_arguments(graph, operator_call(graph, graph.nodes[n])) &&
        std::ranges::find(writers, tag_of(n)) == writers.end())
      writers.push_back(tag_of(n));
  if (writers.empty()) return false;
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (!is_control_flow(graph, graph.nodes[n]) && backends.refuses(backends.size() - 1, graph, n) != nullptr)
      return false;
  InPlaceWrites<> writes(graph);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const TagId tag = tag_of(n);
    if (tag >= partitioning.delegations.size() || partitioning.delegations[tag].backend + 1 >= backends.size())
      continue;
    const OperatorCall call = operator_call(graph, graph.nodes[n]);
    if (view_kind(graph, call) == ViewKind::none || (writers.size() == 1 && writers[0] == tag)) continue;
    bool written = false;
    for (const Argument& output : call.outputs)
      graph.for_each_value(output, [&](ValueId v) { written = written || writes.is_written(v); });
    if (written) return true;
  }
  return false;
}

}  // namespace davit::detail
