// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "davit/lowered/write_dot.hpp"

namespace davit {

namespace detail {

class DotWriter {
 public:
  explicit DotWriter(const PartitionReport& report) : method_(report.method), graph_(report.graph) {}

  [[nodiscard]] std::string write() && {
    out_ = "digraph \"" + escaped(method_) +
           "\" {\n  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\"];\n"
           "  edge [fontname=\"sans-serif\", fontsize=10];\n";
    if (!graph_.graphs.empty()) block(root_graph, 1, 0);
    return std::move(out_) + "}\n";
  }

 private:
  static constexpr std::size_t max_depth = 64;

  void block(GraphId g, std::size_t depth, std::size_t nesting) {
    const std::string indent(2 * depth, ' ');
    for (const std::uint32_t id : graph_.graphs[g].boxes) {
      const PartitionedGraph::Box& box = graph_.boxes[id];
      if (box.kind != PartitionedGraph::BoxKind::control_flow) {
        node(box, id, indent);
        continue;
      }
      out_ += indent + "subgraph cluster_" + std::to_string(id) + " {\n" + indent + "  label=\"" + escaped(box.detail) +
              "\";\n";
      node(box, id, indent + "  ");
      for (std::size_t i = 0; i < box.graphs.size() && nesting < max_depth; ++i) {
        const GraphId inner = box.graphs[i];
        if (inner >= graph_.graphs.size() || inner <= g) continue;  // higher ids only: no endless recursion
        const std::string number = std::to_string(id) + "_" + std::to_string(i);
        out_ += indent + "  subgraph cluster_" + number + " {\n" + indent + "    label=\"" +
                escaped(graph_.graphs[inner].name) + "\";\n" + indent + "    style=dashed;\n";
        block(inner, depth + 2, nesting + 1);
        out_ += indent + "  }\n";
        if (!graph_.graphs[inner].boxes.empty())
          out_ +=
              indent + "  " + box_name(id) + " -> " + box_name(graph_.graphs[inner].boxes[0]) + " [style=dashed];\n";
      }
      out_ += indent + "}\n";
    }
    for (const std::uint32_t e : graph_.graphs[g].edges) {
      const PartitionedGraph::Edge& edge = graph_.edges[e];
      out_ += indent + box_name(edge.from) + " -> " + box_name(edge.to) + " [label=\"" + escaped(edge.value) + "\\n" +
              escaped(edge.type);
      if (edge.bytes > 0) out_ += "\\n" + std::to_string(edge.bytes) + " bytes";
      out_ += "\"];\n";
    }
  }
  void node(const PartitionedGraph::Box& box, std::uint32_t id, const std::string& indent) {
    out_ += indent + box_name(id) + " [label=\"" + escaped(box.label);
    if (box.kind == PartitionedGraph::BoxKind::partition) out_ += "\\n" + escaped(box.detail);
    if (box.nodes > 0) out_ += "\\n" + std::to_string(box.nodes) + " nodes";
    out_ += "\"";
    if (box.kind == PartitionedGraph::BoxKind::partition)
      out_ += ", fillcolor=\"" + std::string(backend_colour(box.backend)) + "\"";
    if (box.kind == PartitionedGraph::BoxKind::control_flow) out_ += ", shape=diamond";
    if (box.kind == PartitionedGraph::BoxKind::inputs || box.kind == PartitionedGraph::BoxKind::outputs)
      out_ += ", shape=ellipse";
    out_ += "];\n";
  }
  [[nodiscard]] static std::string box_name(std::uint32_t id) {
    std::string name(1, 'b');  // g++ 12 at -O3 warns of "b" + to_string(id)
    return name += std::to_string(id);
  }
  [[nodiscard]] static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
    return out;
  }

  std::string_view method_;
  const PartitionedGraph& graph_;
  std::string out_;
};

}  // namespace detail

std::string write_dot(const PartitionReport& report) { return detail::DotWriter(report).write(); }

}  // namespace davit
