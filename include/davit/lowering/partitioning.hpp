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

/// Identifies a tag, that is, a partition.
using TagId = std::uint32_t;

/// The partition of each node, and of graph inputs: side tables of an unchanged program.
///
/// Usually only nodes are tagged. Parameters, buffers and constants follow the nodes that use them; a tag on one
/// requires that all its users are in that partition. User inputs and graph outputs cannot be tagged.
struct PartitionTags {
  std::vector<TagId> nodes;   ///< per node; no_id: untagged
  std::vector<TagId> values;  ///< per value, for graph inputs; may be empty
  std::vector<Name> names;    ///< per tag
  /// @name Violations, which to_backend reports.
  std::vector<std::pair<NodeId, TagId>> conflicts;  ///< nodes that were tagged twice, differently
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

/// The reason why a backend refused a node.
struct NodeRefusal {
  NodeId node = no_id;
  std::uint32_t backend = 0;
  std::string_view reason;
};

/// The backend of one tag.
struct Delegation {
  std::uint32_t backend = 0;
  BackendObject spec{};                    ///< the backend's CompileSpec; null: the default
  std::vector<std::uint32_t> fallbacks{};  ///< backends to try, in order, if the first is not available
};

/// The result of a partitioner: tags, a delegation per tag, and the reasons of refusals. Backends are indices of a
/// list. Source: executorch.exir.backend.partitioner.PartitionResult.
struct PartitionResult {
  PartitionTags tags;
  std::vector<Delegation> delegations;  ///< per tag
  std::vector<NodeRefusal> refusals;
  std::vector<CostCandidate> candidates;  ///< for the report, from partitioners that compare costs

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
  /// Adds a tag for a backend of the list, with a compile spec. O(1).
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

/// Assigns nodes to backends. It cannot change the program. A partitioner that uses only some backends of its list, or
/// in another order, has `preference()`, which returns their indices (empty: the whole list); composite operators are
/// then kept whole for these backends alone. Source: executorch.exir.backend.partitioner.Partitioner.
template <class P>
concept Partitioner = requires(const P& partitioner, const Method& method) {
  typename P::Backends;
  { partitioner.partition(method) } -> std::same_as<Result<Partitioning<typename P::Backends>>>;
};

}  // namespace davit
