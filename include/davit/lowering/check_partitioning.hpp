// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/lowering/quotient_graph.hpp"

namespace davit {

namespace detail {

/// Collects the violations of a partitioning.
class PartitionChecker {
 public:
  constexpr PartitionChecker(const ProgramTables& program, const PartitionTags& tags)
      : program_(program), graph_(program.view()), tags_(tags) {}

  constexpr std::vector<Error> run() {
    if (tags_.nodes.size() != graph_.nodes.size()) {
      violation("tags", concat("there are ", tags_.nodes.size(), " tags for ", graph_.nodes.size(), " nodes"),
                "answer one entry per node: Partitioning(graph) makes them");
      return std::move(violations_);
    }
    for (const auto& [graph, tag] : tags_.outputs)
      violation(concat("outputs of graph '", graph_.str(graph_.graphs[graph].name), "'"),
                concat("the output node is tagged '", tag_name(tag), "'"),
                "tag nodes only: outputs belong to the caller");
    for (const auto& [node, tag] : tags_.conflicts)
      violation(place(node), concat("the node is tagged '", tag_name(tags_.nodes[node]), "' and '", tag_name(tag), "'"),
                "put every node into one partition");
    nodes();
    inputs();
    return std::move(violations_);
  }

 private:
  constexpr void violation(Name where, Name what, Name fix) {
    violations_.push_back(Error{.code = ErrorCode::invalid_argument,
                                .stage = Stage::partition,
                                .where = std::move(where),
                                .what = std::move(what),
                                .fix = std::move(fix)});
  }
  [[nodiscard]] constexpr Name place(NodeId n) const {
    return concat("node '", node_label(graph_, n), "' (", graph_.target(graph_.nodes[n]), ")");
  }
  [[nodiscard]] constexpr Name tag_name(TagId tag) const {
    return tag < tags_.names.size() ? Name::own(tags_.names[tag].view()) : concat("#", tag);
  }

  constexpr void nodes() {
    std::vector<GraphId> graph_of_tag(tags_.names.size(), no_id);
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      const TagId tag = tags_.nodes[n];
      if (tag == no_id) continue;
      if (tag >= tags_.names.size()) {
        violation(place(n), concat("its tag ", tag, " is not among the partitioning's ", tags_.names.size(), " tags"),
                  "add a delegation for every tag");
        continue;
      }
      if (is_control_flow(graph_, graph_.nodes[n]))
        violation(place(n), concat("a control-flow node is tagged '", tag_name(tag), "'"),
                  "tag the nodes of its sub-graphs: the lowered program runs control flow itself");
      GraphId& graph = graph_of_tag[tag];
      if (graph == no_id) graph = graph_.nodes[n].graph;
      if (graph != graph_.nodes[n].graph)
        violation(place(n), concat("partition '", tag_name(tag), "' has nodes in two graphs"), "use one tag per graph");
    }
  }

  /// Only parameters, buffers and constants may be tagged, and every user must carry the same tag.
  constexpr void inputs() {
    if (tags_.values.empty()) return;
    const auto tag_of = [&](ValueId v) { return v < tags_.values.size() ? tags_.values[v] : no_id; };
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    const std::vector<InputRole> roles = input_roles(program_.signature);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].is_value() || tag_of(inputs[i].value()) == no_id) continue;
      const InputRole role = roles[i];
      if (role != InputRole::constant && role != InputRole::state && role != InputRole::object)
        violation(concat("input '", graph_.name(inputs[i].value()), "'"),
                  concat("a user input is tagged '", tag_name(tag_of(inputs[i].value())), "'"),
                  "tag nodes, parameters, buffers and constants only");
    }
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      for (const Argument& input : graph_.inputs(graph_.nodes[n]))
        graph_.for_each_value(input, [&](ValueId v) {
          if (graph_.values[v].producer != no_id || tag_of(v) == no_id || tag_of(v) == tags_.nodes[n]) return;
          violation(
              concat("constant '", graph_.name(v), "'"),
              concat("it is tagged '", tag_name(tag_of(v)), "', but its user ", place(n), " is ",
                     tags_.nodes[n] == no_id ? Name("not tagged") : concat("tagged '", tag_name(tags_.nodes[n]), "'")),
              "leave the constant without a tag: it is shared by the partitions that use it");
        });
  }

  const ProgramTables& program_;
  GraphModuleView graph_;
  const PartitionTags& tags_;
  std::vector<Error> violations_;
};

}  // namespace detail

/// Lists every violation of a partitioning: a tagged output or user input, a constant whose users carry another tag, a
/// tag without a delegation, a node in two tags, a tagged control-flow node, a tag in two graphs. O(nodes + edges).
/// Source: executorch.exir.lowered_backend_module.create_submodule_from_nodes and executorch.exir.backend.backend_api.
[[nodiscard]] constexpr std::vector<Error> check_partitioning(const ProgramTables& program, const PartitionTags& tags) {
  return detail::PartitionChecker(program, tags).run();
}

/// Makes the error for a cycle of partitions, which lists the nodes along the cycle. Source:
/// torch.fx.passes.utils.fuser_utils.
[[nodiscard]] constexpr Error cycle_error(GraphModuleView graph, const PartitionTags& tags, const QuotientGraph& q,
                                          std::span<const std::uint32_t> cycle) {
  const auto label = [&](std::uint32_t v) {
    const NodeId n = q.nodes_of(v)[0];
    return tags.nodes[n] == no_id ? concat("node '", node_label(graph, n), "'")
                                  : concat("partition '", tags.names[tags.nodes[n]], "'");
  };
  Name path = label(cycle[0]);
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const std::uint32_t user = cycle[i];
    const std::uint32_t producer = cycle[(i + 1) % cycle.size()];
    Name value;
    for (const NodeId n : q.nodes_of(user))
      for (const Argument& input : graph.inputs(graph.nodes[n]))
        graph.for_each_value(input, [&](ValueId v) {
          const NodeId p = graph.values[v].producer;
          if (value.empty() && p != no_id && q.vertex_of_node[p] == producer) value = Name(graph.name(v));
        });
    path = value.empty() ? concat(path, " must run after ", label(producer))
                         : concat(path, " needs '", value, "' of ", label(producer));
    if (i == 15 && cycle.size() > 17) {
      path = concat(path, " ... (", cycle.size(), " in all)");
      break;
    }
    if (i + 1 < cycle.size()) path = concat(path, ", which");
  }
  return Error{.code = ErrorCode::invalid_argument,
               .stage = Stage::partition,
               .where = label(cycle[0]),
               .what = concat("the partitions depend on each other: ", path),
               .fix = "split one of them: group_nodes makes groups without cycles"};
}

}  // namespace davit
