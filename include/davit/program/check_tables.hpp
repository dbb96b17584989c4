// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// Maximum nesting depth of lists; deeper lists are an error.
inline constexpr int max_list_depth = 4;

/// Checks that every id and range of the tables is in bounds, so that all other algorithms may follow them unchecked:
/// references of expressions and lists point backwards, each argument belongs to one list, node or graph, sub-graphs
/// form a tree, and the graph of each node and value is right. Call it first on tables of unknown origin (a file, a
/// saved blob). O(size of the tables). Errors: the first violation, with table and row.
template <class = void>
[[nodiscard]] constexpr Result<void> check_tables(GraphModuleView g) {
  const auto bad = [](std::string_view table, std::size_t row, std::string_view what) {
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .stage = Stage::load,
                                 .where = concat("table '", table, "', row ", row),
                                 .what = Name(what),
                                 .fix = "the tables are damaged: export or save the program again"});
  };
  const auto inside = [](Range r, std::size_t size) { return r.first <= size && r.count <= size - r.first; };
  const auto text = [&](Text t) { return inside({t.first, t.size}, g.text.size()); };

  for (std::size_t i = 0; i < g.exprs.size(); ++i) {
    const Expr& e = g.exprs[i];
    const auto operand = [&](std::uint32_t id) { return id == no_id || id < i; };
    if (e.op > ExprOp::real) return bad("exprs", i, "unknown operator");
    if (!operand(e.a) || !operand(e.b) || !(operand(e.c) || e.op == ExprOp::rational))
      return bad("exprs", i, "an operand does not precede its use");
    if (!text(e.name)) return bad("exprs", i, "text outside the table");
  }
  for (std::size_t i = 0; i < g.dims.size(); ++i)
    if (g.dims[i].expr != no_id && g.dims[i].expr >= g.exprs.size()) return bad("dims", i, "unknown expression");
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    const Value& v = g.values[i];
    if (!text(v.name) || !text(v.class_fqn) || !text(v.device)) return bad("values", i, "text outside the table");
    if (!inside(v.sizes, g.dims.size()) || !inside(v.strides, g.dims.size()))
      return bad("values", i, "dims outside the table");
    if (v.strides.count != 0 && v.strides.count != v.sizes.count)
      return bad("values", i, "the numbers of sizes and strides differ");
    if (v.expr != no_id && v.expr >= g.exprs.size()) return bad("values", i, "unknown expression");
    if (v.graph >= g.graphs.size()) return bad("values", i, "unknown graph");
    if (v.producer != no_id && v.producer >= g.nodes.size()) return bad("values", i, "unknown producer");
    if (v.kind > ValueKind::token) return bad("values", i, "unknown kind");
    if (v.kind != ValueKind::tensor && v.kind != ValueKind::token && v.sizes.count != 0)
      return bad("values", i, "a value that is no tensor has sizes");
    if (v.dtype != ScalarType::undefined && size_of(v.dtype) == 0) return bad("values", i, "unknown dtype");
    if (v.layout > Layout::strided || v.requires_grad > 1)
      return bad("values", i, "unknown layout, or a bool that is neither 0 nor 1");
  }
  std::vector<std::uint8_t> owned(g.arguments.size(), 0);
  const auto own = [&](Range r) {  // otherwise lists that share items could expand to trees of any size
    for (std::uint32_t k = 0; k < r.count; ++k)
      if (owned[r.first + k]++ != 0) return false;
    return true;
  };
  std::vector<std::uint8_t> depth(g.arguments.size(), 0);
  std::vector<std::uint8_t> graph_uses(g.graphs.size(), 0);
  for (std::size_t i = 0; i < g.arguments.size(); ++i) {
    const Argument& a = g.arguments[i];
    if (!text(a.name)) return bad("arguments", i, "text outside the table");
    if (a.element > ArgumentKind::list || a.keyword > 1)
      return bad("arguments", i, "unknown element kind, or a bool that is neither 0 nor 1");
    const auto up_to = [&](std::int64_t last) { return a.payload >= 0 && a.payload <= last; };
    switch (a.kind) {
      case ArgumentKind::value:
        if (a.payload < 0 || static_cast<std::uint64_t>(a.payload) >= g.values.size())
          return bad("arguments", i, "unknown value");
        break;
      case ArgumentKind::graph:
        if (a.payload <= 0 || static_cast<std::uint64_t>(a.payload) >= g.graphs.size())
          return bad("arguments", i, "unknown sub-graph");
        if (graph_uses[a.graph()]++ != 0) return bad("arguments", i, "a sub-graph is used twice");
        break;
      case ArgumentKind::string:
      case ArgumentKind::device:
      case ArgumentKind::operator_name:
        if (!text({a.items.first, a.items.count})) return bad("arguments", i, "text outside the table");
        break;
      case ArgumentKind::list:
        if (!inside(a.items, i)) return bad("arguments", i, "list items must precede the list");
        if (!own(a.items)) return bad("arguments", i, "an item that belongs to two lists");
        for (std::uint32_t k = 0; k < a.items.count; ++k)
          if (depth[a.items.first + k] >= depth[i]) depth[i] = static_cast<std::uint8_t>(depth[a.items.first + k] + 1);
        if (depth[i] > max_list_depth) return bad("arguments", i, "lists are nested too deeply");
        break;
      case ArgumentKind::bool_:
        if (!up_to(1)) return bad("arguments", i, "a bool that is neither 0 nor 1");
        break;
      case ArgumentKind::scalar_type:
        if (!up_to(UINT8_MAX)) return bad("arguments", i, "unknown dtype");
        break;
      case ArgumentKind::memory_format:
        if (!up_to(static_cast<std::int64_t>(MemoryFormat::preserve)))
          return bad("arguments", i, "unknown memory format");
        break;
      case ArgumentKind::layout:
        if (!up_to(static_cast<std::int64_t>(Layout::strided))) return bad("arguments", i, "unknown layout");
        break;
      default:
        if (a.kind > ArgumentKind::list) return bad("arguments", i, "unknown kind");
    }
  }
  if (g.graphs.empty()) return bad("graphs", 0, "there is no root graph");
  std::size_t covered = 0;
  for (std::size_t i = 0; i < g.graphs.size(); ++i) {
    const Graph& graph = g.graphs[i];
    if (!text(graph.name)) return bad("graphs", i, "text outside the table");
    if (graph.is_single_tensor_return > 1) return bad("graphs", i, "a bool that is neither 0 nor 1");
    if (!inside(graph.inputs, g.arguments.size()) || !inside(graph.outputs, g.arguments.size()))
      return bad("graphs", i, "inputs or outputs outside the table");
    if (!own(graph.inputs) || !own(graph.outputs)) return bad("graphs", i, "an argument that belongs to two owners");
    if (!inside(graph.nodes, g.nodes.size())) return bad("graphs", i, "nodes outside the table");
    covered += graph.nodes.count;
    for (std::uint32_t n = 0; n < graph.nodes.count; ++n)
      if (g.nodes[graph.nodes.first + n].graph != i)
        return bad("nodes", graph.nodes.first + n, "is not in the graph that lists it");
    if (i != root_graph && graph_uses[i] != 1) return bad("graphs", i, "a sub-graph that nothing uses");
  }
  if (covered != g.nodes.size()) return bad("nodes", 0, "nodes outside every graph");
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = g.nodes[i];
    if (!text(n.target)) return bad("nodes", i, "text outside the table");
    if (!inside(n.inputs, g.arguments.size()) || !inside(n.outputs, g.arguments.size()))
      return bad("nodes", i, "arguments outside the table");
    if (!own(n.inputs) || !own(n.outputs)) return bad("nodes", i, "an argument that belongs to two owners");
    if (n.metadata != no_id && n.metadata >= g.metadata.size()) return bad("nodes", i, "unknown metadata row");
    for (const Argument& a : g.inputs(n))
      if (a.kind == ArgumentKind::graph && a.graph() <= n.graph)
        return bad("nodes", i, "a sub-graph must follow its graph");
  }
  std::vector<std::uint8_t> listed(g.metadata.size(), 1);  // rows of each list
  for (std::size_t i = 0; i < g.metadata.size(); ++i) {
    const NodeMetadata& m = g.metadata[i];
    if (!text(m.stack_trace) || !text(m.nn_module_stack) || !text(m.source_fn_stack) || !text(m.torch_fn) ||
        !text(m.custom))
      return bad("metadata", i, "text outside the table");
    if (m.merged == no_id) continue;
    if (m.merged >= i || listed[m.merged] == max_merged)
      return bad("metadata", i, "a merged row is no earlier row, or a node has too many");
    listed[i] += listed[m.merged];
  }
  return {};
}

}  // namespace davit
