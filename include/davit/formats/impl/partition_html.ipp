// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/html_text.hpp"
#include "davit/formats/partition_html.hpp"
#include "davit/lowering/print_report.hpp"
#include "davit/lowering/write_dot.hpp"

namespace davit::formats {

namespace detail {

/// Draws a partitioned graph as SVG: boxes in rows by depth, control flow around the graphs it runs.
class SvgWriter {
 public:
  static constexpr std::size_t max_boxes = 2000;  ///< more are no picture any more
  static constexpr std::size_t max_labels = 300;  ///< edges with a text; beyond, the texts are tooltips only

  explicit SvgWriter(const PartitionedGraph& graph)
      : graph_(graph),
        frame_(graph.boxes.size()),
        size_(graph.graphs.size()),
        labels_(graph.edges.size() <= max_labels) {}

  [[nodiscard]] std::string write() && {
    if (graph_.graphs.empty()) return {};
    if (graph_.boxes.size() > max_boxes)
      return "<p>The graph has " + std::to_string(graph_.boxes.size()) + " boxes: too many to draw.</p>\n";
    for (std::size_t g = graph_.graphs.size(); g-- > 0;)
      lay_out(static_cast<GraphId>(g));  // sub-graphs follow their graph
    const Size size = size_[root_graph];
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" + std::to_string(size.width) +
           "\" height=\"" + std::to_string(size.height) + "\">\n";
    draw(root_graph, 0, 0);
    return std::move(out_) + "</svg>\n";
  }

 private:
  using Box = PartitionedGraph::Box;
  using BoxKind = PartitionedGraph::BoxKind;
  static constexpr int line_height = 16, gap = 24, row_gap = 56, margin = 12, char_width = 7, header = 40;
  struct Size {
    int width = 0;
    int height = 0;
  };
  struct Frame {
    int x = 0;  ///< within its graph
    int y = 0;
    Size size;
  };

  [[nodiscard]] bool runs(const Box& box, GraphId inner) const noexcept {
    return inner < graph_.graphs.size() && inner > box.graph;
  }
  [[nodiscard]] Size size_of_box(const Box& box) const {
    const std::size_t text = std::min<std::size_t>(std::max(box.label.size(), box.detail.size()), 48);
    Size size{std::max(90, static_cast<int>(text) * char_width + 2 * margin),
              box.kind == BoxKind::partition ? 3 * line_height + margin : header};
    if (box.kind != BoxKind::control_flow) return size;
    int width = margin;
    int height = 0;
    for (const GraphId inner : box.graphs) {
      if (!runs(box, inner)) continue;
      width += size_[inner].width + margin;
      height = std::max(height, size_[inner].height);
    }
    return {std::max(size.width, width), header + line_height + height + margin};
  }

  void lay_out(GraphId g) {
    const PartitionedGraph::Block& block = graph_.graphs[g];
    std::vector<std::size_t> level(block.boxes.size(), 0);
    if (block.boxes.empty()) return;
    const std::uint32_t first = block.boxes[0];  // the boxes of a graph have neighbouring numbers
    std::size_t levels = 1;
    std::vector<std::uint32_t> by_target(block.edges);
    std::ranges::sort(by_target, {}, [&](std::uint32_t e) { return std::pair(graph_.edges[e].to, e); });
    for (const std::uint32_t e : by_target) {
      std::size_t& to = level[graph_.edges[e].to - first];
      to = std::max(to, level[graph_.edges[e].from - first] + 1);
      levels = std::max(levels, to + 1);
    }
    for (std::size_t i = 0; i < block.boxes.size(); ++i)
      if (graph_.boxes[block.boxes[i]].kind == BoxKind::outputs) level[i] = std::max(level[i], levels - 1);
    std::vector<Size> row(levels, {margin, 0});
    for (std::size_t i = 0; i < block.boxes.size(); ++i) {
      Frame& frame = frame_[block.boxes[i]];
      Size& own = row[level[i]];
      frame.size = size_of_box(graph_.boxes[block.boxes[i]]);
      frame.x = own.width;
      own.width += frame.size.width + gap;
      own.height = std::max(own.height, frame.size.height);
    }
    std::vector<int> top(levels, margin);
    Size& whole = size_[g];
    for (std::size_t l = 0; l < levels; ++l) {
      if (l > 0) top[l] = top[l - 1] + row[l - 1].height + row_gap;
      whole.width = std::max(whole.width, row[l].width - gap + margin);
      whole.height = top[l] + row[l].height + margin;
    }
    for (std::size_t i = 0; i < block.boxes.size(); ++i) {
      Frame& frame = frame_[block.boxes[i]];
      frame.y = top[level[i]];
      frame.x += (whole.width - (row[level[i]].width - gap + margin)) / 2;
    }
  }

  void draw(GraphId g, int x, int y) {
    for (const std::uint32_t id : graph_.graphs[g].boxes) draw_box(id, x + frame_[id].x, y + frame_[id].y);
    for (const std::uint32_t e : graph_.graphs[g].edges) draw_edge(graph_.edges[e], x, y);
  }
  void draw_box(std::uint32_t id, int x, int y) {
    const Box& box = graph_.boxes[id];
    const Size size = frame_[id].size;
    const bool rounded = box.kind == BoxKind::inputs || box.kind == BoxKind::outputs;
    out_ += "<g><title>" + escape_html(box.label) + " " + escape_html(box.detail) + "</title><rect x=\"" +
            std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" + std::to_string(size.width) +
            "\" height=\"" + std::to_string(size.height) + "\" rx=\"" + (rounded ? "16" : "4") + "\" fill=\"" +
            std::string(backend_colour(box.backend)) + "\" stroke=\"#444\"" +
            (box.kind == BoxKind::control_flow ? " stroke-dasharray=\"5 3\"" : "") + "/>";
    int at = y + line_height + 2;
    const auto line = [&](std::string_view text) {
      if (text.empty()) return;
      this->text(x + size.width / 2, at, shortened(text), "box");
      at += line_height;
    };
    line(box.label);
    line(box.detail);
    if (box.nodes > 0) line(std::to_string(box.nodes) + " nodes");
    out_ += "</g>\n";
    int inner_x = x + margin;
    for (const GraphId inner : box.graphs) {
      if (!runs(box, inner)) continue;
      const int inner_y = y + header + line_height;
      text(inner_x + size_[inner].width / 2, inner_y - 3, shortened(graph_.graphs[inner].name), "edge");
      draw(inner, inner_x, inner_y);
      inner_x += size_[inner].width + margin;
    }
  }
  void draw_edge(const PartitionedGraph::Edge& edge, int x, int y) {
    const Frame& from = frame_[edge.from];
    const Frame& to = frame_[edge.to];
    const int x0 = x + from.x + from.size.width / 2, y0 = y + from.y + from.size.height;
    const int x1 = x + to.x + to.size.width / 2, y1 = y + to.y;
    const auto point = [](int px, int py) { return std::to_string(px) + " " + std::to_string(py); };
    const int middle = (y0 + y1) / 2;
    std::string what = escape_html(edge.value) + ": " + escape_html(edge.type);
    if (edge.bytes > 0) what += ", " + std::to_string(edge.bytes) + " bytes";
    out_ += "<g><title>" + what + "</title><path fill=\"none\" stroke=\"#666\" d=\"M " + point(x0, y0) + " C " +
            point(x0, middle) + ", " + point(x1, middle) + ", " + point(x1, y1 - 5) + "\"/><path fill=\"#666\" d=\"M " +
            point(x1 - 4, y1 - 7) + " L " + point(x1 + 4, y1 - 7) + " L " + point(x1, y1) + " Z\"/></g>\n";
    if (labels_) text((x0 + x1) / 2, middle, shortened(edge.value) + " " + shortened(edge.type), "edge");
  }
  void text(int x, int y, std::string_view content, const char* style) {
    out_ += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" class=\"" + style + "\">" +
            escape_html(content) + "</text>";
  }
  [[nodiscard]] static std::string shortened(std::string_view text) {
    return text.size() <= 48 ? std::string(text) : std::string(text.substr(0, 45)) + "...";
  }

  const PartitionedGraph& graph_;
  std::vector<Frame> frame_;  ///< per box
  std::vector<Size> size_;    ///< per graph
  bool labels_;
  std::string out_;
};

[[nodiscard]] DAVIT_INLINE std::string html_table(const char* title, const TextTable& table) {
  if (table.rows.empty()) return {};
  std::string out = "<h3>" + std::string(title) + "</h3>\n<table>\n<tr>";
  for (const std::string& cell : table.headline) out += "<th>" + escape_html(cell) + "</th>";
  out += "</tr>\n";
  for (const std::vector<std::string>& row : table.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c)
      out += (table.numeric[c] ? "<td class=\"n\">" : "<td>") + escape_html(row[c]) + "</td>";
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace detail

DAVIT_INLINE std::string partition_html(std::string_view title, std::span<const PartitionReport> reports) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + escape_html(title) +
      "</title>\n<style>\nbody { font-family: sans-serif; margin: 2em; }\ntable { border-collapse: collapse; }\n"
      "th, td { border: 1px solid #ccc; padding: 2px 8px; text-align: left; }\ntd.n { text-align: right; }\n"
      "div.graph { overflow: auto; border: 1px solid #ccc; max-height: 80vh; }\n"
      "text { text-anchor: middle; font-size: 12px; }\ntext.edge { font-size: 10px; fill: #333; }\n"
      "</style>\n</head>\n<body>\n<h1>" +
      escape_html(title) + "</h1>\n";
  for (const PartitionReport& report : reports) {
    out += "<h2>method " + escape_html(report.method) + "</h2>\n<p>" + escape_html(report_totals(report)) + "</p>\n";
    out += "<div class=\"graph\">\n" + detail::SvgWriter(report.graph).write() + "</div>\n";
    const ReportTables tables = report_tables(report);
    out += detail::html_table("Partitions", tables.partitions);
    out += detail::html_table("Costs", tables.candidates);
    out += detail::html_table("Constants", tables.constants);
    out += detail::html_table("Not taken", tables.refusals);
  }
  return out + "</body>\n</html>\n";
}

}  // namespace davit::formats
