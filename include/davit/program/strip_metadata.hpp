// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/program/graph_builder.hpp"

namespace davit {

/// Returns a copy of the graphs without node metadata and its text. Ids stay the same. O(size of the tables).
template <class = void>
[[nodiscard]] constexpr GraphModule strip_metadata(GraphModuleView g) {
  GraphBuilder texts;
  const auto keep = [&](Text& t) { t = texts.intern(g.str(t)); };
  GraphModule out{.text = {},
                  .dims = {g.dims.begin(), g.dims.end()},
                  .exprs = {g.exprs.begin(), g.exprs.end()},
                  .values = {g.values.begin(), g.values.end()},
                  .arguments = {g.arguments.begin(), g.arguments.end()},
                  .nodes = {g.nodes.begin(), g.nodes.end()},
                  .graphs = {g.graphs.begin(), g.graphs.end()},
                  .metadata = {}};
  for (Expr& e : out.exprs) keep(e.name);
  for (Value& v : out.values) {
    keep(v.name);
    keep(v.class_fqn);
    keep(v.device);
  }
  for (Argument& a : out.arguments) {
    keep(a.name);
    if (a.kind == ArgumentKind::string || a.kind == ArgumentKind::device || a.kind == ArgumentKind::operator_name) {
      const Text t = texts.intern(g.str(a.items));
      a.items = {t.first, t.size};
    }
  }
  for (Node& n : out.nodes) {
    keep(n.target);
    n.metadata = no_id;
  }
  for (Graph& graph : out.graphs) keep(graph.name);
  out.text = std::move(texts.module().text);
  return out;
}

}  // namespace davit
