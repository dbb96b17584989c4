// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/lowering/group_nodes.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/testing/detail/program_recipe.hpp"

namespace davit::testing {

/// Deals the nodes out to the backends in turn, or at random, so that as many values as possible cross a border between
/// partitions.
///
/// A backend that refuses a node passes it on to the next one; a node that all refuse goes to the backend whose turn it
/// was, so that preprocess reports the reason. renamed_backend makes a second instance of a backend. O(backends *
/// (nodes + edges)).
template <class List>
struct AlternatingPartitioner {
  using Backends = List;
  std::vector<std::uint32_t> backends{};  ///< indices of the dealt backends; empty: all
  std::uint64_t seed = 0;                 ///< of random turns; 0: in order

  [[nodiscard]] const std::vector<std::uint32_t>& preference() const noexcept { return backends; }
  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    const GraphModuleView graph = method.view();
    Partitioning<List> out(graph);
    std::vector<std::uint32_t> dealt = backends;
    if (dealt.empty())
      for (std::uint32_t b = 0; b < List::size; ++b) dealt.push_back(b);
    std::vector<std::uint32_t> classes(graph.nodes.size(), no_id);
    std::uint32_t next = 0;
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
      if (!is_control_flow(graph, graph.nodes[n]))
        classes[n] = taker(graph, n, dealt, seed == 0 ? next++ : static_cast<std::uint32_t>(Random(seed + n).next()));
    const NodeGroups groups = group_nodes(graph, classes, static_cast<std::uint32_t>(dealt.size()));
    for (std::uint32_t g = 0; g < groups.count(); ++g)
      out.add(concat(List::name(dealt[groups.class_of_group[g]]), "_", g),
              Delegation{.backend = dealt[groups.class_of_group[g]]});
    out.tags.nodes = groups.group_of_node;
    return out;
  }

 private:
  /// The backend of `dealt` for the node: the first from `turn` on that takes it.
  [[nodiscard]] static std::uint32_t taker(GraphModuleView graph, NodeId node, const std::vector<std::uint32_t>& dealt,
                                           std::uint32_t turn) {
    const auto count = static_cast<std::uint32_t>(dealt.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t at = (turn % count + i) % count;
      if (List::tables().refuses(dealt[at], graph, node) == nullptr) return at;
    }
    return turn % count;
  }
};

}  // namespace davit::testing
