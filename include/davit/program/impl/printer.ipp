// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/printer.hpp"
#include "davit/program/python_repr.hpp"
#include "davit/program/size_text.hpp"

namespace davit {

namespace detail {

/// Prints graphs. Keeps the number of users of each value.
class GraphPrinter {
 public:
  explicit GraphPrinter(GraphModuleView graph, PrintTypes types = PrintTypes::no) : graph_(graph), types_(types) {}

  [[nodiscard]] std::string print_argument(const Argument& a) && {
    argument(a, "%");
    return std::move(text_);
  }
  [[nodiscard]] std::string print() && {
    count_users();
    struct Pending {
      GraphId graph;
      std::size_t depth;
    };
    std::vector<Pending> pending{{root_graph, 0}};
    while (!pending.empty()) {
      const Pending next = pending.back();
      pending.pop_back();
      print_one(next.graph, next.depth);
      const std::span<const Node> nodes = graph_.nodes_of(graph_.graphs[next.graph]);
      for (std::size_t n = nodes.size(); n-- > 0;) {
        const std::span<const Argument> in = graph_.inputs(nodes[n]);
        for (std::size_t i = in.size(); i-- > 0;)
          if (in[i].kind == ArgumentKind::graph) pending.push_back({in[i].graph(), next.depth + 1});
      }
    }
    return std::move(text_);
  }

 private:
  /// Counts the nodes that use each value; the outputs of a graph count as one node.
  void count_users() {
    users_.assign(graph_.values.size(), 0);
    std::vector<std::size_t> last(graph_.values.size(), SIZE_MAX);
    const auto use = [&](std::span<const Argument> arguments, std::size_t user) {
      for (const Argument& a : arguments)
        graph_.for_each_value(a, [&](ValueId v) {
          if (last[v] != user) ++users_[v];
          last[v] = user;
        });
    };
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) use(graph_.inputs(graph_.nodes[id]), id);
    for (GraphId id = 0; id < graph_.graphs.size(); ++id)
      use(graph_.args(graph_.graphs[id].outputs), graph_.nodes.size() + id);
  }

  void print_one(GraphId id, std::size_t depth) {
    const Graph& graph = graph_.graphs[id];
    const std::string indent(4 * depth, ' ');
    if (id != root_graph) (text_ += indent) += std::string(graph_name(id)) += " = ";
    text_ += "graph():\n";
    const std::string line = indent + "    ";
    std::size_t position = 0;
    for (const Argument& input : graph_.args(graph.inputs)) {
      std::string name(input.is_value() ? graph_.name(input.value()) : graph_.str(input.name));
      if (name.empty()) name = "input_" + std::to_string(position);
      const std::uint32_t users = input.is_value() ? users_[input.value()] : 0;
      const std::string type = input.is_value() ? type_of(input.value()) + (types_ == PrintTypes::yes ? " " : "") : "";
      text_.append(line).append("%").append(name).append(" : ").append(type).append("[num_users=");
      text_.append(std::to_string(users)).append("] = placeholder[target=").append(name).append("]\n");
      ++position;
    }
    for (const Node& node : graph_.nodes_of(graph)) {
      for (const Argument& input : graph_.inputs(node))
        if (input.kind == ArgumentKind::graph) {
          const std::string name(graph_name(input.graph()));
          text_ += line + "%" + name + " : [num_users=1] = get_attr[target=" + name + "]\n";
        }
      text_ += line;
      call(node);
      text_ += "\n";
    }
    text_ += line + "return ";
    const std::span<const Argument> outputs = graph_.args(graph.outputs);
    if (graph.is_single_tensor_return != 0 && outputs.size() == 1) {
      argument(outputs[0], "");
    } else {
      tuple(outputs, "");
    }
    text_ += "\n";
  }

  void call(const Node& node) {
    std::string names;
    std::string users;
    std::string types;
    std::size_t count = 0;
    for (const Argument& output : graph_.outputs(node))
      graph_.for_each_value(output, [&](ValueId v) {
        (names += count == 0 ? "%" : ", %") += graph_.name(v);
        (users += count == 0 ? "" : ", ") += std::to_string(users_[v]);
        (types += count == 0 ? "" : ", ") += type_of(v);
        ++count;
      });
    const std::string_view open = count > 1 ? "(" : "", close = count > 1 ? ")" : "";
    if (count > 0) text_.append(names).append(" : ");
    if (count > 0 && types_ == PrintTypes::yes) text_.append(open).append(types).append(close).append(" ");
    if (count > 0) text_.append("[num_users=").append(open).append(users).append(close).append("] = ");
    text_ += "call_function[target=";
    target(graph_.target(node));
    text_ += "](args = ";
    const std::span<const Argument> in = graph_.inputs(node);
    const std::size_t positional = positional_count(node);
    tuple(in.first(positional), "%");
    text_ += ", kwargs = {";
    for (std::size_t i = positional; i < in.size(); ++i) {
      if (i != positional) text_ += ", ";
      (text_ += graph_.str(in[i].name)) += ": ";
      argument(in[i], "%");
    }
    text_ += "})";
  }

  /// Returns the number of arguments printed by position: the leading arguments in schema order without a default and
  /// not keyword-only. Source: torch 2.6's GraphModuleDeserializer.deserialize_inputs.
  [[nodiscard]] std::size_t positional_count(const Node& node) const {
    const std::span<const Argument> in = graph_.inputs(node);
    const std::string_view schema = find_operator(graph_.target(node));
    std::size_t count = 0;
    if (schema.empty()) {
      while (count < in.size() && (in[count].keyword == 0 || graph_.str(in[count].name).empty())) ++count;
      return count;
    }
    const OperatorSchema parsed = parse_schema(schema);
    for (; count < in.size() && count < parsed.parameters.size(); ++count) {
      const SchemaParameter& parameter = parsed.parameters[count];
      const std::string_view name = graph_.str(in[count].name);
      if (name.empty()) continue;
      if (name != parameter.name || parameter.keyword_only || parameter.has_default) break;
    }
    return count;
  }

  void target(std::string_view name) {
    if (name.starts_with("_operator.")) {
      text_ += name.substr(1);
    } else if (name.starts_with("torch.") || name.starts_with('#')) {
      text_ += name;
    } else {
      (text_ += "torch.ops.") += name;
    }
  }

  void tuple(std::span<const Argument> items, std::string_view sigil) {
    text_ += "(";
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i != 0) text_ += ", ";
      argument(items[i], sigil);
    }
    text_ += items.size() == 1 ? ",)" : ")";
  }

  void argument(const Argument& a, std::string_view sigil) {
    switch (a.kind) {
      case ArgumentKind::none: text_ += "None"; return;
      case ArgumentKind::value: (text_ += sigil) += graph_.name(a.value()); return;
      case ArgumentKind::int_: text_ += std::to_string(a.payload); return;
      case ArgumentKind::float_: append_python_float(text_, a.float_value()); return;
      case ArgumentKind::bool_: text_ += a.payload != 0 ? "True" : "False"; return;
      case ArgumentKind::string:
      case ArgumentKind::device:
      case ArgumentKind::operator_name: text_ += graph_.string(a); return;
      case ArgumentKind::scalar_type: (text_ += "torch.") += name_of(static_cast<ScalarType>(a.payload)); return;
      case ArgumentKind::memory_format: (text_ += "torch.") += pick(memory_formats, a.payload); return;
      case ArgumentKind::layout: (text_ += "torch.") += pick(layouts, a.payload); return;
      case ArgumentKind::complex_:
        text_ += "(";
        append_python_float(text_, a.float_value());
        text_ += a.imaginary() < 0 ? "" : "+";
        append_python_float(text_, a.imaginary());
        text_ += "j)";
        return;
      case ArgumentKind::graph: (text_ += "%") += graph_name(a.graph()); return;
      case ArgumentKind::list: break;
    }
    text_ += "[";
    const std::span<const Argument> items = graph_.args(a.items);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i != 0) text_ += ", ";
      argument(items[i], sigil);
    }
    text_ += "]";
  }

  /// The type of a value; empty if none are printed.
  [[nodiscard]] std::string type_of(ValueId v) const {
    return types_ == PrintTypes::no ? std::string() : std::string(type_text(graph_, graph_.values[v]).view());
  }
  [[nodiscard]] std::string graph_name(GraphId id) const {
    const std::string_view name = graph_.str(graph_.graphs[id].name);
    return name.empty() ? "graph_" + std::to_string(id) : std::string(name);
  }
  template <std::size_t N>
  [[nodiscard]] static std::string_view pick(const std::string_view (&names)[N], std::int64_t index) noexcept {
    return index >= 0 && static_cast<std::size_t>(index) < N ? names[index] : std::string_view("?");
  }
  static constexpr std::string_view memory_formats[] = {"unknown", "contiguous_format", "channels_last",
                                                        "channels_last_3d", "preserve_format"};
  static constexpr std::string_view layouts[] = {"unknown",    "sparse_coo", "sparse_csr", "sparse_csc",
                                                 "sparse_bsr", "sparse_bsc", "_mkldnn",    "strided"};

  GraphModuleView graph_;
  PrintTypes types_;
  std::vector<std::uint32_t> users_;
  std::string text_;
};

}  // namespace detail

std::string print_graph(GraphModuleView graph, PrintTypes types) { return detail::GraphPrinter(graph, types).print(); }
std::string print_argument(GraphModuleView graph, const Argument& argument) {
  return detail::GraphPrinter(graph).print_argument(argument);
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
  const auto symbol = [&](ExprId id) { return Name::own(graph.str(graph.exprs[id].name)); };
  Name sizes;
  for (const Dim& dim : graph.dims_of(v.sizes))
    sizes = concat(sizes, sizes.empty() ? "" : ", ", size_text(graph.exprs, dim, symbol));
  return concat(name_of(v.dtype), "[", sizes, "]");
}

}  // namespace davit
