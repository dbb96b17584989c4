// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "davit/backend/static_rows.hpp"
#include "davit/formats/embed/text.hpp"
#include "davit/program/graph.hpp"

namespace davit::formats {

/// Writes the root graph of a program as StaticGraphTables: the rows of StaticGraphRows, with the model's names as
/// comments. `dims` and `symbols` are the values of the graph's dims and symbolic values.
class EmbedGraphText {
 public:
  EmbedGraphText(GraphModuleView graph, const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& symbols)
      : graph_(graph), rows_(graph, dims, symbols) {}

  [[nodiscard]] StaticGraph rows() const noexcept { return rows_.view(); }
  /// The number of uses of a value by live nodes and graph outputs.
  [[nodiscard]] std::uint32_t users(ValueId v) const { return rows_.values[v].users; }

  /// Writes the member `tables`. With `source_lines`, the model's source line precedes each node.
  [[nodiscard]] std::string write(bool source_lines) const {
    const auto count = [](std::size_t n) { return std::to_string(n); };
    std::string out = "  using kind = davit::ArgumentKind;\n  using dtype = davit::ScalarType;\n";
    out += "  static constexpr davit::StaticGraphTables<" + count(rows_.sizes.size()) + ", " +
           count(rows_.values.size()) + ", " + count(rows_.inputs.size()) + ", " + count(rows_.outputs.size()) + ", " +
           count(rows_.arguments.size()) + ", " + count(rows_.nodes.size()) + ", " + count(rows_.strings.size()) +
           (rows_.graphs.empty() ? "" : ", " + count(rows_.graphs.size())) + "> tables{\n";
    out += "      .sizes = {";
    list(out, rows_.sizes);
    out += "},\n      // name, sizes (first, rank), elements, node (-1 - i: graph input i), users, element type\n";
    out += "      .values = {{\n";
    for (ValueId v = 0; v < rows_.values.size(); ++v) value(out, v);
    out += "      }},\n      .inputs = {";
    list(out, rows_.inputs);
    out += "},\n      .outputs = {";
    list(out, rows_.outputs);
    out += "},\n      // name, kind, number or value (list: first item, count)\n      .arguments = {{\n";
    arguments(out);
    out += "      }},\n      // operator, inputs (first, count), outputs (first, count)\n      .nodes = {{\n";
    for (NodeId n = 0; n < rows_.nodes.size(); ++n) node(out, n, source_lines);
    out += "      }},\n      .strings = {";
    for (const char* text : rows_.strings) out += quoted(text) + ", ";
    if (rows_.graphs.empty()) return out + "}};\n";
    out += "},\n      // nodes, inputs, outputs (each first, count)\n      .graphs = {{\n";
    for (const StaticSubgraph& g : rows_.graphs) {
      out += "          {" + count(g.first_node) + ", " + count(g.nodes) + ", " + count(g.first_input) + ", " +
             count(g.inputs) + ", " + count(g.first_output) + ", " + count(g.outputs) + "},\n";
    }
    return out + "      }}};\n";
  }

  /// Describes a value: "relu float32 [1, 8]".
  [[nodiscard]] std::string describe(ValueId v) const {
    const StaticValue& value = rows_.values[v];
    std::string out = embed_text::comment(value.name);
    if (value.dtype == ScalarType::undefined) return out;
    out += " " + std::string(name_of(value.dtype)) + " [";
    for (std::uint32_t d = 0; d < value.rank; ++d)
      out += (d == 0 ? "" : ", ") + std::to_string(rows_.sizes[value.first_size + d]);
    return out + "]";
  }

 private:
  [[nodiscard]] static std::string quoted(std::string_view text) { return "\"" + embed_text::escaped(text) + "\""; }
  /// Spells a number in C++, where INT64_MIN has no literal.
  [[nodiscard]] static std::string number(std::int64_t v) { return v == INT64_MIN ? "INT64_MIN" : std::to_string(v); }

  template <class T>
  static void list(std::string& out, const std::vector<T>& numbers) {
    embed_text::append_list(out, numbers.size(), "          ", [&](std::size_t i) {
      if constexpr (std::is_same_v<T, ValueId>)
        out += numbers[i] == no_id ? "davit::no_id" : std::to_string(numbers[i]);
      else
        out += number(numbers[i]);
    });
  }
  void value(std::string& out, ValueId v) const {
    const StaticValue& value = rows_.values[v];
    out += "          {" + quoted(value.name) + ", " + std::to_string(value.first_size) + ", " +
           std::to_string(value.rank) + ", " + number(value.numel) + ", " + std::to_string(value.source) + ", " +
           std::to_string(value.users) + ", " + type_name(value.dtype) + "},  // " + std::to_string(v) + ": " +
           describe(v) + "\n";
  }
  [[nodiscard]] static std::string type_name(ScalarType type) {
    return embed_text::scalar_type(type).substr(std::string_view("davit::ScalarType::").size()).insert(0, "dtype::");
  }
  void arguments(std::string& out) const {
    std::vector<NodeId> begins(rows_.arguments.size() + 1, no_id);  // the node whose arguments begin here
    for (NodeId n = 0; n < rows_.nodes.size(); ++n)
      if (rows_.nodes[n].inputs + rows_.nodes[n].outputs != 0)
        begins[rows_.nodes[n].inputs != 0 ? rows_.nodes[n].first_input : rows_.nodes[n].first_output] = n;
    for (std::size_t i = 0; i < rows_.arguments.size(); ++i) {
      if (begins[i] != no_id)
        out += "          // " + std::to_string(begins[i]) + ": " + embed_text::comment(rows_.nodes[begins[i]].target) +
               "\n";
      const StaticArgument& a = rows_.arguments[i];
      out += "          {" + quoted(a.name) + ", kind::" + kind_name(a.kind) + ", " + payload(a);
      if (a.is_list()) out += ", " + std::to_string(a.count);
      out += "},";
      if (a.is_value()) out += "  // " + embed_text::comment(rows_.values[a.value()].name);
      out += "\n";
    }
  }
  [[nodiscard]] static std::string payload(const StaticArgument& a) {
    if (a.kind != ArgumentKind::float_) return number(a.payload);
    std::string out = "std::bit_cast<std::int64_t>(";
    embed_text::append_float(out, a.float_value(), "");
    return out + ")";
  }
  /// Spells an enumerator.
  [[nodiscard]] static std::string kind_name(ArgumentKind kind) {
    switch (kind) {
      case ArgumentKind::value: return "value";
      case ArgumentKind::int_: return "int_";
      case ArgumentKind::float_: return "float_";
      case ArgumentKind::bool_: return "bool_";
      case ArgumentKind::string: return "string";
      case ArgumentKind::scalar_type: return "scalar_type";
      case ArgumentKind::memory_format: return "memory_format";
      case ArgumentKind::layout: return "layout";
      case ArgumentKind::list: return "list";
      case ArgumentKind::graph: return "graph";
      default: return "none";
    }
  }
  void node(std::string& out, NodeId n, bool source_lines) const {
    const StaticNode& node = rows_.nodes[n];
    if (source_lines) out += source_line(graph_.nodes[n]);
    out += "          {" + quoted(node.target) + ", " + std::to_string(node.first_input) + ", " +
           std::to_string(node.inputs) + ", " + std::to_string(node.first_output) + ", " +
           std::to_string(node.outputs) + "},  // " + std::to_string(n) + ": " +
           names(node.first_output, node.outputs) + " = " + embed_text::comment(node.target) + "(" +
           names(node.first_input, node.inputs) + ")\n";
  }
  /// The names of the values in these arguments.
  [[nodiscard]] std::string names(std::uint32_t first, std::uint32_t count) const {
    std::string out;
    for (std::uint32_t i = first; i < first + count; ++i)
      rows_.view().for_each_value(rows_.arguments[i], [&](ValueId v) {
        out += (out.empty() ? "" : ", ") + embed_text::comment(rows_.values[v].name);
      });
    return out;
  }
  /// The innermost frame of the node's trace, as a comment.
  [[nodiscard]] std::string source_line(const Node& node) const {
    if (node.metadata == no_id || node.metadata >= graph_.metadata.size()) return {};
    std::string_view trace = graph_.str(graph_.metadata[node.metadata].stack_trace);
    const std::size_t frame = trace.rfind("File \"");
    if (frame == std::string_view::npos) return {};
    std::string line;
    for (const char c : trace.substr(frame)) {
      if (c == '\n')
        line += line.ends_with(": ") ? "" : ": ";
      else if (c != ' ' || !line.ends_with(' '))
        line += c;
    }
    while (line.ends_with(' ') || line.ends_with(':')) line.pop_back();
    return "          // " + embed_text::comment(line) + "\n";
  }

  GraphModuleView graph_;
  StaticGraphRows rows_;
};

}  // namespace davit::formats
