// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/program/in_place_writes.hpp"

namespace davit {

/// Calls `visit(NodeId)` for the node that defines each value `node` reads; graph inputs have none.
template <class Visit>
constexpr void for_each_producer(GraphModuleView graph, NodeId node, Visit&& visit) {
  for (const Argument& input : graph.inputs(graph.nodes[node]))
    graph.for_each_value(input, [&](ValueId v) {
      if (graph.values[v].producer != no_id) visit(graph.values[v].producer);
    });
}

/// The order that nodes must keep: the one relation behind grouping, the search for cycles, cutting and scheduling.
///
/// A node needs the nodes that define its operands (effect tokens are values too). Where operators write in place, a
/// node that reads memory needs its last writer, and a node that writes memory needs its last writer and all readers
/// since then. Values that may share a storage count as one memory. Order edges lead from later to earlier nodes of one
/// graph; there are at most as many as reads and writes.
class Dependencies {
 public:
  /// O(nodes + edges); where nothing is written in place, a scan of the nodes.
  constexpr explicit Dependencies(GraphModuleView graph) : graph_(graph) {
    if (writes_in_place(graph)) follow_memory();
  }

  /// Calls `visit(NodeId)` for each node that `node` needs, once for each reason.
  template <class Visit>
  constexpr void for_each(NodeId node, Visit&& visit) const {
    for_each_producer(graph_, node, visit);
    if (first_.empty()) return;
    for (std::uint32_t i = first_[node]; i < first_[node + 1]; ++i) visit(needs_[i]);
  }

 private:
  /// The accesses to one memory so far: the last write, and the list of reads since.
  struct Memory {
    NodeId writer = no_id;
    std::uint32_t reads = no_id;  ///< row of reads
  };
  struct Read {
    NodeId reader = no_id;
    std::uint32_t next = no_id;
  };

  constexpr void follow_memory() {
    detail::InPlaceWrites<> writes(graph_);
    std::vector<Memory> memory(graph_.values.size());
    std::vector<Read> reads;
    first_.reserve(graph_.nodes.size() + 1);
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      first_.push_back(static_cast<std::uint32_t>(needs_.size()));
      const Node& node = graph_.nodes[n];
      const auto after = [&](NodeId earlier) {
        if (earlier != no_id && earlier != n && graph_.nodes[earlier].graph == node.graph) needs_.push_back(earlier);
      };
      for (const Argument& input : graph_.inputs(node))
        graph_.for_each_value(input, [&](ValueId v) {
          if (!writes.is_written(v)) return;
          Memory& m = memory[writes.root(v)];
          after(m.writer);
          reads.push_back({n, m.reads});
          m.reads = static_cast<std::uint32_t>(reads.size() - 1);
        });
      writes.for_each_written(node, [&](ValueId v) {
        Memory& m = memory[writes.root(v)];
        after(m.writer);
        for (std::uint32_t r = m.reads; r != no_id; r = reads[r].next) after(reads[r].reader);
        m = {.writer = n};
      });
    }
    first_.push_back(static_cast<std::uint32_t>(needs_.size()));
  }

  GraphModuleView graph_;
  std::vector<std::uint32_t> first_;  ///< per node, and one more; empty: no order edges
  std::vector<NodeId> needs_;
};

}  // namespace davit
