// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "davit/lowered/backend_list.hpp"
#include "davit/lowered/partition_report.hpp"

namespace davit {

/// The number of a tag: which partition a node belongs to.
using TagId = std::uint32_t;

/// Which nodes, and which inputs of graphs, belong together: side tables beside a program that stays as it is.
///
/// Only nodes are tagged as a rule. Parameters, buffers and constants follow the nodes that use them; tagging one says
/// that all its users must be in that partition. User inputs and graph outputs cannot be tagged.
struct PartitionTags {
  std::vector<TagId> nodes;   ///< per node; no_id: none
  std::vector<TagId> values;  ///< per value, for graph inputs; may be empty
  std::vector<Name> names;    ///< per tag
  /// @name What was tagged against the rules; to_backend reports it.
  std::vector<std::pair<NodeId, TagId>> conflicts;  ///< nodes that were tagged a second time, otherwise
  std::vector<std::pair<GraphId, TagId>> outputs;   ///< graphs whose output was tagged

  constexpr PartitionTags() = default;
  constexpr explicit PartitionTags(GraphModuleView graph) : nodes(graph.nodes.size(), no_id) {}

  constexpr void tag_node(NodeId node, TagId tag) {
    if (nodes[node] != no_id && nodes[node] != tag) {
      conflicts.emplace_back(node, tag);
    } else {
      nodes[node] = tag;
    }
  }
  constexpr void tag_input(GraphModuleView graph, ValueId value, TagId tag) {
    values.resize(graph.values.size(), no_id);
    values[value] = tag;
  }
  constexpr void tag_output(GraphId graph, TagId tag) { outputs.emplace_back(graph, tag); }
};

/// Why a backend did not take a node.
struct NodeRefusal {
  NodeId node = no_id;
  std::uint32_t backend = 0;
  std::string_view reason;
};

/// One tag's destination.
struct Delegation {
  std::uint32_t backend = 0;
  BackendObject spec{};                    ///< the backend's CompileSpec; null: its default
  std::vector<std::uint32_t> fallbacks{};  ///< backends to try, in order, where the first is not available
};

/// What a partitioner answers: tags, a destination per tag, and why nodes were not taken. Backends are indices of a
/// list. Source: executorch.exir.backend.partitioner.PartitionResult.
struct PartitionResult {
  PartitionTags tags;
  std::vector<Delegation> delegations;  ///< per tag
  std::vector<NodeRefusal> refusals;
  std::vector<CostCandidate> candidates;  ///< for the report; of a partitioner that goes by costs

  PartitionResult() = default;
  explicit PartitionResult(GraphModuleView graph) : tags(graph) {}

  /// Adds a tag. O(1).
  TagId add(Name name, Delegation delegation) {
    tags.names.push_back(std::move(name));
    delegations.push_back(std::move(delegation));
    return static_cast<TagId>(delegations.size() - 1);
  }
};

/// A PartitionResult for the backends of a list.
template <class List>
struct Partitioning : PartitionResult {
  using Backends = List;

  Partitioning() = default;
  explicit Partitioning(GraphModuleView graph) : PartitionResult(graph) {}
  explicit Partitioning(PartitionResult result) : PartitionResult(std::move(result)) {}

  using PartitionResult::add;
  /// Adds a tag for a backend of the list, compiled by a spec of its own. O(1).
  TagId add(Name name, DelegationSpec<List> spec, std::vector<std::uint32_t> fallbacks = {}) {
    const auto backend = static_cast<std::uint32_t>(spec.index());
    BackendObject object = std::visit(
        [](auto& to) -> BackendObject {
          using Spec = std::remove_reference_t<decltype(to.spec)>;
          return std::make_shared<const Spec>(std::move(to.spec));
        },
        spec);
    return add(std::move(name), Delegation{backend, std::move(object), std::move(fallbacks)});
  }
};

/// Decides which nodes go where. It sees the program, and cannot change it. One that uses some backends of its list, or
/// prefers them in another order, says so: `preference()` answers their indices, none for the list as it is; then
/// composite operators are kept whole for these alone. Source: executorch.exir.backend.partitioner.Partitioner.
template <class P>
concept Partitioner = requires(const P& partitioner, const Method& method) {
  typename P::Backends;
  { partitioner.partition(method) } -> std::same_as<Result<Partitioning<typename P::Backends>>>;
};

}  // namespace davit
