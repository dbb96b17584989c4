// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "davit/program/graph.hpp"

namespace davit {

/// The tables of a program's graphs as arrays: constants in .rodata, without any owner. Made by `freeze_graph`.
template <std::size_t Texts, std::size_t Dims, std::size_t Exprs, std::size_t Values, std::size_t Arguments,
          std::size_t Nodes, std::size_t Graphs, std::size_t Metadata>
struct StaticGraphModule {
  std::array<char, Texts> text;
  std::array<Dim, Dims> dims;
  std::array<Expr, Exprs> exprs;
  std::array<Value, Values> values;
  std::array<Argument, Arguments> arguments;
  std::array<Node, Nodes> nodes;
  std::array<Graph, Graphs> graphs;
  std::array<NodeMetadata, Metadata> metadata;

  [[nodiscard]] constexpr GraphModuleView view() const noexcept {
    return {{text.data(), text.size()}, dims, exprs, values, arguments, nodes, graphs, metadata};
  }
};

/// The static form of the graph that `make` (a constexpr callable that returns a GraphModule) builds.
///
/// `make` runs twice in constant evaluation. With `KeepMetadata` false the metadata table is dropped.
template <auto make, bool KeepMetadata = true>
[[nodiscard]] consteval auto freeze_graph() {
  struct Sizes {
    std::size_t text, dims, exprs, values, arguments, nodes, graphs, metadata;
  };
  constexpr Sizes n = [] {
    const GraphModule built = make();
    return Sizes{
        built.text.size(),      built.dims.size(),  built.exprs.size(),  built.values.size(),
        built.arguments.size(), built.nodes.size(), built.graphs.size(), KeepMetadata ? built.metadata.size() : 0};
  }();
  StaticGraphModule<n.text, n.dims, n.exprs, n.values, n.arguments, n.nodes, n.graphs, n.metadata> frozen{};
  const GraphModule built = make();
  const auto copy = [](auto& to, const auto& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i];
  };
  copy(frozen.text, built.text);
  copy(frozen.dims, built.dims);
  copy(frozen.exprs, built.exprs);
  copy(frozen.values, built.values);
  copy(frozen.arguments, built.arguments);
  copy(frozen.nodes, built.nodes);
  copy(frozen.graphs, built.graphs);
  copy(frozen.metadata, built.metadata);
  if constexpr (!KeepMetadata)
    for (Node& node : frozen.nodes) node.metadata = no_id;
  return frozen;
}

}  // namespace davit
