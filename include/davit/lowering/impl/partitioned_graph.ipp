// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/lowering/partitioned_graph.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/program/size_text.hpp"

namespace davit {

namespace detail {

[[nodiscard]] Name size_text(GraphModuleView graph, const Dim& dim) {
  return davit::size_text(graph.exprs, dim, [&](ExprId id) { return Name::own(graph.str(graph.exprs[id].name)); });
}
Name type_text(GraphModuleView graph, const Value& v) {
  switch (v.kind) {
    case ValueKind::sym_int: return "int";
    case ValueKind::sym_float: return "float";
    case ValueKind::sym_bool: return "bool";
    case ValueKind::custom_obj: return "object";
    case ValueKind::token: return "token";
    case ValueKind::tensor: break;
  }
  Name sizes;
  for (const Dim& dim : graph.dims_of(v.sizes)) sizes = concat(sizes, sizes.empty() ? "" : ", ", size_text(graph, dim));
  return concat(name_of(v.dtype), "[", sizes, "]");
}
std::size_t value_bytes(GraphModuleView graph, const Value& v) noexcept {
  if (v.kind != ValueKind::tensor) return 0;
  std::size_t bytes = size_of(v.dtype);
  for (const Dim& dim : graph.dims_of(v.sizes))
    if (dim.value < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(dim.value), &bytes)) return 0;
  return bytes;
}

std::vector<PartitionReport::Node> node_rows(GraphModuleView graph, std::span<const std::uint32_t> partition_of_node) {
  std::vector<PartitionReport::Node> rows;
  rows.reserve(graph.nodes.size());
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    PartitionReport::Node& row = rows.emplace_back();
    row.name = node_label(graph, n);
    row.target = Name::own(graph.target(node));
    row.partition = partition_of_node[n];
    row.place = node.metadata;
    for (const Argument& output : graph.outputs(node))
      graph.for_each_value(output, [&](ValueId v) {
        row.type = concat(row.type, row.type.empty() ? "" : ", ", type_text(graph, graph.values[v]));
      });
    for (const Argument& input : graph.inputs(node))
      graph.for_each_value(input, [&](ValueId v) {
        if (graph.values[v].producer != no_id) row.inputs.push_back(graph.values[v].producer);
      });
    std::ranges::sort(row.inputs);
    row.inputs.erase(std::ranges::unique(row.inputs).begin(), row.inputs.end());
  }
  return rows;
}

class PartitionedGraphBuilder {
 public:
  PartitionedGraphBuilder(GraphModuleView graph, PartitionedGraph& out)
      : graph_(graph), out_(out), box_of_value_(graph.values.size(), no_id) {}

  /// `describe(box, node)` fills in the box of a delegate call.
  template <class Describe>
  void run(Describe&& describe) {
    for (GraphId g = 0; g < graph_.graphs.size(); ++g) {
      const Graph& graph = graph_.graphs[g];
      out_.graphs.push_back({.name = Name::own(graph_.str(graph.name)), .boxes = {}, .edges = {}});
      const std::uint32_t inputs = add(g, {.kind = PartitionedGraph::BoxKind::inputs, .label = "inputs"});
      for (const Argument& input : graph_.args(graph.inputs)) define(input, inputs);
      for (std::uint32_t i = 0; i < graph.nodes.count; ++i) {
        const Node& node = graph_.nodes[graph.nodes.first + i];
        PartitionedGraph::Box box;
        if (graph_.target(node) == call_delegate_target) {
          describe(box, node);
        } else {
          box.kind = PartitionedGraph::BoxKind::control_flow;
          box.label = node_label(graph_, graph.nodes.first + i);
          box.detail = Name::own(graph_.target(node));
          for (const Argument& input : graph_.inputs(node))
            if (input.kind == ArgumentKind::graph) box.graphs.push_back(input.graph());
        }
        const std::uint32_t id = add(g, std::move(box));
        connect(g, graph_.inputs(node), id);
        for (const Argument& output : graph_.outputs(node)) define(output, id);
      }
      connect(g, graph_.args(graph.outputs), add(g, {.kind = PartitionedGraph::BoxKind::outputs, .label = "outputs"}));
    }
  }

 private:
  std::uint32_t add(GraphId g, PartitionedGraph::Box box) {
    box.graph = g;
    out_.boxes.push_back(std::move(box));
    out_.graphs[g].boxes.push_back(static_cast<std::uint32_t>(out_.boxes.size() - 1));
    return out_.graphs[g].boxes.back();
  }
  void define(const Argument& argument, std::uint32_t box) {
    graph_.for_each_value(argument, [&](ValueId v) { box_of_value_[v] = box; });
  }
  /// Adds an edge for each value that the box reads.
  void connect(GraphId g, std::span<const Argument> arguments, std::uint32_t box) {
    seen_.clear();
    for (const Argument& argument : arguments) graph_.for_each_value(argument, [&](ValueId v) { seen_.push_back(v); });
    std::ranges::sort(seen_);
    seen_.erase(std::ranges::unique(seen_).begin(), seen_.end());
    for (const ValueId v : seen_) {
      if (box_of_value_[v] == no_id) continue;
      const Value& value = graph_.values[v];
      out_.graphs[g].edges.push_back(static_cast<std::uint32_t>(out_.edges.size()));
      out_.edges.push_back(
          {box_of_value_[v], box, Name::own(graph_.name(v)), type_text(graph_, value), value_bytes(graph_, value)});
    }
  }

  GraphModuleView graph_;
  PartitionedGraph& out_;
  std::vector<std::uint32_t> box_of_value_;
  std::vector<ValueId> seen_;
};

}  // namespace detail

PartitionedGraph partitioned_graph(const LoweredMethod& method,
                                   std::span<const PartitionReport::Partition> partitions) {
  PartitionedGraph out;
  const GraphModuleView graph = method.parent.view();
  detail::PartitionedGraphBuilder(graph, out).run([&](PartitionedGraph::Box& box, const Node& node) {
    const std::span<const Argument> in = graph.inputs(node);
    const auto d = in.empty() ? partitions.size() : static_cast<std::size_t>(in[0].payload);
    if (d >= partitions.size()) return;
    box.label = partitions[d].tag;
    box.partition = static_cast<std::uint32_t>(d);
    box.backend = method.delegates[d].backend;
    box.detail = partitions[d].backend;
    box.nodes = partitions[d].nodes;
  });
  return out;
}

PartitionReport partition_report(const LoweredProgram& program, std::size_t index) {
  const LoweredMethod& method = program.methods()[index];
  PartitionReport out;
  out.method = method.name;
  for (const LoweredDelegate& delegate : method.delegates) {
    PartitionReport::Partition row{.tag = delegate.tag, .backend = Name(program.backends().name(delegate.backend))};
    for (const InputPort& input : delegate.interface.inputs) row.inputs += input.role == InputRole::user ? 1 : 0;
    row.outputs = delegate.interface.outputs.size();
    out.partitions.push_back(std::move(row));
  }
  out.graph = partitioned_graph(method, out.partitions);
  return out;
}

}  // namespace davit
