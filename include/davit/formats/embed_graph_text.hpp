// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "davit/formats/embed_text.hpp"
#include "davit/program/graph.hpp"

namespace davit::formats {

/// Writes the root graph of a program as the tables of a StaticGraphModule. Node numbers stay those of the program;
/// what a device does not need (devices, strides, symbols, traces) is left out. `sizes[dim]` are the numbers of the
/// dims.
class EmbedGraphText {
 public:
  EmbedGraphText(GraphModuleView graph, const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& symbols)
      : graph_(graph), dims_(dims), symbols_(symbols) {}

  /// The text of the member `tables`. With `source_lines` each node has the line of the model above it.
  [[nodiscard]] std::string write(bool source_lines) {
    const Graph& root = graph_.root();
    for (const Argument& a : graph_.args(root.inputs)) append(a);
    const std::uint32_t input_count = root.inputs.count;
    const auto first_output = static_cast<std::uint32_t>(argument_count_);
    for (const Argument& a : graph_.args(root.outputs)) append(a);
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) node(n, source_lines);
    for (ValueId v = 0; v < graph_.values.size(); ++v) value(v);
    std::string out = "  static constexpr davit::StaticGraphModule<" + std::to_string(text_.size()) + ", " +
                      std::to_string(dim_count_) + ", 0, " + std::to_string(graph_.values.size()) + ", " +
                      std::to_string(argument_count_) + ", " + std::to_string(graph_.nodes.size()) +
                      ", 1, 0> tables{\n";
    out += "      .text = davit::static_text(\n" + text_lines() + "),\n";
    out += "      .dims = {{" + dim_rows_ + "}},\n      .exprs = {},\n";
    out += "      .values = {{\n" + value_rows_ + "      }},\n";
    out += "      .arguments = {{\n" + argument_rows_ + "      }},\n";
    out += "      .nodes = {{\n" + node_rows_ + "      }},\n";
    out += "      .graphs = {{{.inputs = {0, " + std::to_string(input_count) + "}, .outputs = {" +
           std::to_string(first_output) + ", " + std::to_string(root.outputs.count) + "}, .nodes = {" +
           std::to_string(root.nodes.first) + ", " + std::to_string(root.nodes.count) +
           "}}}},\n      .metadata = {}};\n";
    return out;
  }

  /// "relu float32 [1, 8]".
  [[nodiscard]] std::string describe(ValueId v) const {
    const Value& value = graph_.values[v];
    std::string out(graph_.name(v));
    if (value.kind != ValueKind::tensor) return out;
    out += " " + std::string(name_of(value.dtype)) + " [";
    for (std::uint32_t d = 0; d < value.sizes.count; ++d)
      out += (d == 0 ? "" : ", ") + std::to_string(dims_[value.sizes.first + d]);
    return out + "]";
  }

 private:
  [[nodiscard]] Text intern(std::string_view s) {
    if (s.empty()) return {};
    const auto [at, is_new] = interned_.try_emplace(
        std::string(s), Text{static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(s.size())});
    if (is_new) {
      text_ += s;
      pieces_.push_back(at->second);
    }
    return at->second;
  }
  /// Where these sizes begin in the table; equal lists are written once.
  [[nodiscard]] std::uint32_t intern_dims(Range sizes) {
    const std::vector<std::int64_t> list(dims_.begin() + sizes.first, dims_.begin() + sizes.first + sizes.count);
    const auto [at, is_new] = interned_dims_.try_emplace(list, static_cast<std::uint32_t>(dim_count_));
    if (!is_new) return at->second;
    for (const std::int64_t d : list) {
      dim_rows_ += dim_count_ == 0 ? "{" : dim_count_ % 24 == 0 ? ",\n                {" : ", {";
      dim_rows_ += std::to_string(d) + "}";
      ++dim_count_;
    }
    return at->second;
  }
  [[nodiscard]] static std::string pair(std::uint32_t first, std::uint32_t count) {
    return "{" + std::to_string(first) + ", " + std::to_string(count) + "}";
  }
  [[nodiscard]] static std::string pair(Text t) { return pair(t.first, t.size); }

  /// The table's literals, one for each name.
  [[nodiscard]] std::string text_lines() const {
    std::string out;
    std::size_t line = 0;
    for (const Text& t : pieces_) {
      const std::string piece = embed_text::escaped(std::string_view(text_).substr(t.first, t.size));
      if (out.empty() || out.size() - line + piece.size() > 110) {
        out += out.empty() ? "          " : "\n          ";
        line = out.size();
      } else {
        out += " ";
      }
      out += "\"" + piece + "\"";
    }
    return out.empty() ? "          \"\"" : out;
  }

  /// A symbolic number as what it was bound to.
  [[nodiscard]] bool is_number(const Argument& a) const {
    return a.is_value() && (graph_.values[a.value()].kind == ValueKind::sym_int ||
                            graph_.values[a.value()].kind == ValueKind::sym_bool);
  }
  void append(const Argument& a) { append_row(row(a)); }
  void append_row(const std::string& row) {
    argument_rows_ += row;
    ++argument_count_;
  }
  [[nodiscard]] std::string row(const Argument& a) {
    std::string out = "          {";
    const char* separator = "";
    const auto field = [&](const char* name, const std::string& value) {
      out += std::string(separator) + "." + name + " = " + value;
      separator = ", ";
    };
    if (a.name.size != 0) field("name", pair(intern(graph_.str(a.name))));
    std::string comment;
    const char* kind = "none";
    switch (a.kind) {
      case ArgumentKind::none: break;
      case ArgumentKind::value:
        if (is_number(a)) {
          field("payload", std::to_string(symbols_[a.value()]));
          kind = "int_";
        } else {
          field("payload", std::to_string(a.payload));
          kind = "value";
        }
        comment = std::string(graph_.name(a.value()));
        break;
      case ArgumentKind::float_:
        kind = "float_";
        out += std::string(separator) + ".payload = std::bit_cast<std::int64_t>(";
        embed_text::append_float(out, a.float_value(), "");
        out += ")";
        separator = ", ";
        break;
      case ArgumentKind::string:
        kind = "string";
        field("items", pair(intern(graph_.string(a))));
        break;
      case ArgumentKind::device: kind = "none"; break;
      case ArgumentKind::int_:
        kind = "int_";
        field("payload", number(a.payload));
        break;
      case ArgumentKind::bool_:
        kind = "bool_";
        field("payload", std::to_string(a.payload));
        break;
      case ArgumentKind::scalar_type:
        kind = "scalar_type";
        field("payload", std::to_string(a.payload));
        break;
      case ArgumentKind::memory_format:
        kind = "memory_format";
        field("payload", std::to_string(a.payload));
        break;
      case ArgumentKind::layout:
        kind = "layout";
        field("payload", std::to_string(a.payload));
        break;
      case ArgumentKind::list: {
        kind = "list";
        std::vector<std::string> rows;
        for (const Argument& item : graph_.args(a.items)) rows.push_back(this->row(item));
        field("items", pair(static_cast<std::uint32_t>(argument_count_), a.items.count));
        for (const std::string& item : rows) append_row(item);
        break;
      }
      default: break;  // graphs, complex numbers: no static backend takes them
    }
    if (a.kind != ArgumentKind::none) field("kind", std::string("davit::ArgumentKind::") + kind);
    out += "},";
    if (a.name.size != 0) comment = std::string(graph_.str(a.name)) + (comment.empty() ? "" : " = " + comment);
    if (!comment.empty()) out += "  // " + comment;
    return out + "\n";
  }
  [[nodiscard]] static std::string number(std::int64_t v) { return v == INT64_MIN ? "INT64_MIN" : std::to_string(v); }

  /// A node's arguments go to the table behind those of its lists.
  [[nodiscard]] std::string range(Range list) {
    std::vector<std::string> rows;
    for (const Argument& a : graph_.args(list)) rows.push_back(row(a));
    const auto first = static_cast<std::uint32_t>(argument_count_);
    for (const std::string& r : rows) append_row(r);
    return pair(first, list.count);
  }
  void node(std::uint32_t n, bool source_lines) {
    const Node& node = graph_.nodes[n];
    std::string comment = std::to_string(n) + ": ";
    const char* separator = "";
    for (const Argument& a : graph_.outputs(node))
      graph_.for_each_value(a, [&](ValueId v) {
        comment += separator + std::string(graph_.name(v));
        separator = ", ";
      });
    comment += " = " + std::string(graph_.target(node)) + "(";
    separator = "";
    for (const Argument& a : graph_.inputs(node))
      graph_.for_each_value(a, [&](ValueId v) {
        comment += separator + std::string(graph_.name(v));
        separator = ", ";
      });
    argument_rows_ += "          // " + std::to_string(n) + ": " + std::string(graph_.target(node)) + "\n";
    const std::string inputs = range(node.inputs);
    const std::string outputs = range(node.outputs);
    if (source_lines) node_rows_ += source_line(node);
    node_rows_ += "          {.target = " + pair(intern(graph_.target(node))) + ", .inputs = " + inputs +
                  ", .outputs = " + outputs + ", .graph = 0},  // " + comment + ")\n";
  }
  /// The innermost frame of the node's trace, as a comment.
  [[nodiscard]] std::string source_line(const Node& node) const {
    if (node.metadata == no_id || node.metadata >= graph_.metadata.size()) return {};
    std::string_view trace = graph_.str(graph_.metadata[node.metadata].stack_trace);
    const std::size_t frame = trace.rfind("File \"");
    if (frame == std::string_view::npos) return {};
    std::string line = "          // ";
    for (const char c : trace.substr(frame)) {
      if (c == '\n')
        line += line.ends_with(": ") ? "" : ": ";
      else if (c != ' ' || !line.ends_with(' '))
        line += c;
    }
    while (line.ends_with(' ') || line.ends_with(':')) line.pop_back();
    return line + "\n";
  }
  void value(ValueId v) {
    const Value& value = graph_.values[v];
    const std::uint32_t first = intern_dims(value.sizes);
    std::string row = "          {.name = " + pair(intern(graph_.name(v))) + ", .graph = 0";
    if (value.producer != no_id) row += ", .producer = " + std::to_string(value.producer);
    if (value.kind == ValueKind::tensor)
      row += ", .sizes = " + pair(first, value.sizes.count) + ", .dtype = " + embed_text::scalar_type(value.dtype);
    else
      row += ", .constant = " + number(symbols_[v]) + ", .kind = davit::ValueKind::" + kind_name(value.kind);
    value_rows_ += row + "},  // " + std::to_string(v) + ": " + describe(v) + "\n";
  }
  [[nodiscard]] static std::string kind_name(ValueKind kind) {
    switch (kind) {
      case ValueKind::sym_int: return "sym_int";
      case ValueKind::sym_float: return "sym_float";
      case ValueKind::sym_bool: return "sym_bool";
      case ValueKind::custom_obj: return "custom_obj";
      case ValueKind::token: return "token";
      case ValueKind::tensor: break;
    }
    return "tensor";
  }

  GraphModuleView graph_;
  const std::vector<std::int64_t>& dims_;
  const std::vector<std::int64_t>& symbols_;  ///< per value: the number of a symbolic one
  std::string text_;
  std::map<std::string, Text, std::less<>> interned_;
  std::map<std::vector<std::int64_t>, std::uint32_t> interned_dims_;
  std::vector<Text> pieces_;
  std::string dim_rows_, value_rows_, argument_rows_, node_rows_;
  std::size_t dim_count_ = 0, argument_count_ = 0;
};

}  // namespace davit::formats
