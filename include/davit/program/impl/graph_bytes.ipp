// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "davit/program/check_tables.hpp"
#include "davit/program/graph_bytes.hpp"

namespace davit {

void write_graph(ByteWriter& out, GraphModuleView g) {
  out.array(std::span<const char>(g.text.data(), g.text.size()));
  out.array(g.dims);
  out.array(g.exprs);
  out.array(g.values);
  out.array(g.arguments);
  out.array(g.nodes);
  out.array(g.graphs);
  out.array(g.metadata);
}

Result<GraphModule> read_graph(ByteReader& in) {
  GraphModule g;
  g.text = in.array<char>();
  g.dims = in.array<Dim>();
  g.exprs = in.array<Expr>();
  g.values = in.array<Value>();
  g.arguments = in.array<Argument>();
  g.nodes = in.array<Node>();
  g.graphs = in.array<Graph>();
  g.metadata = in.array<NodeMetadata>();
  if (!in.ok())
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .where = concat("graph tables, byte ", in.position()),
                                 .what = "the bytes end early or a size is wrong",
                                 .fix = "save the module again"});
  if (Result<void> checked = check_tables(g.view()); !checked) return error_of(checked);
  return g;
}

}  // namespace davit
