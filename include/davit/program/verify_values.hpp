// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/tensor_view.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/violations.hpp"

namespace davit::detail {

/// Checks that every value is defined once, in its own graph, and before its uses.
template <class = void>
constexpr void verify_definitions(const GraphModuleView& g, GraphId id, std::vector<std::uint8_t>& defined,
                                  Violations& report) {
  const Graph& graph = g.graphs[id];
  const auto define = [&](ValueId v, Name where) {
    if (g.values[v].graph != id) {
      report.violation(std::move(where), concat("'", g.name(v), "' belongs to another graph"));
    } else if (defined[v] != 0) {
      report.violation(std::move(where), concat("'", g.name(v), "' is defined a second time"));
    }
    defined[v] = 1;
  };
  const auto use = [&](ValueId v, const auto& where) {
    if (g.values[v].graph != id) {
      report.violation(where(),
                       concat("'", g.name(v), "' belongs to another graph; a sub-graph sees only its operands"));
    } else if (defined[v] == 0) {
      report.violation(where(), concat("'", g.name(v), "' is used before it is defined"));
    }
  };
  for (const Argument& input : g.args(graph.inputs))
    g.for_each_value(input, [&](ValueId v) { define(v, concat("inputs of graph '", g.str(graph.name), "'")); });
  for (std::uint32_t n = 0; n < graph.nodes.count; ++n) {
    const NodeId node = graph.nodes.first + n;
    for (const Argument& input : g.inputs(g.nodes[node]))
      g.for_each_value(input, [&](ValueId v) { use(v, [&] { return report.place(node); }); });
    for (const Argument& output : g.outputs(g.nodes[node]))
      g.for_each_value(output, [&](ValueId v) {
        if (g.values[v].producer != node)
          report.violation(report.place(node), concat("'", g.name(v), "' names another producer"));
        if (defined[v] != 0 || g.values[v].graph != id) {
          define(v, report.place(node));
        } else {
          defined[v] = 1;
        }
      });
  }
  for (const Argument& output : g.args(graph.outputs))
    g.for_each_value(output,
                     [&](ValueId v) { use(v, [&] { return concat("outputs of graph '", g.str(graph.name), "'"); }); });
}

/// Checks that tensors have at most max_rank dimensions, and sizes with a valid product.
template <class = void>
constexpr void verify_sizes(const GraphModuleView& g, Violations& report) {
  for (ValueId v = 0; v < g.values.size(); ++v) {
    const Range dims = g.values[v].sizes;
    std::array<std::int64_t, max_rank> sizes{};
    if (dims.count > max_rank) {
      report.violation(concat("value '", g.name(v), "'"),
                       concat("it has ", dims.count, " dimensions; at most ", max_rank, " are supported"));
      continue;
    }
    for (std::size_t d = 0; d < dims.count; ++d) {
      sizes[d] = g.dims[dims.first + d].value;  // the example value of a symbolic size
    }
    if (checked_numel({sizes.data(), dims.count}) < 0)
      report.violation(concat("value '", g.name(v), "'"),
                       "its sizes are negative, or multiply to more elements than a tensor can have");
  }
}

/// A slot of a hash table of names: a value and part of its name's hash, to skip other names without reading them.
struct NameSlot {
  ValueId value = no_id;
  std::uint32_t hash = 0;
};

/// Checks that names are unique within a graph and not empty.
template <class = void>
constexpr void verify_names(const GraphModuleView& g, const std::vector<std::uint8_t>& defined, Violations& report) {
  std::size_t buckets = 16;
  while (buckets < 2 * g.values.size()) buckets *= 2;
  std::vector<NameSlot> table(buckets);
  for (ValueId v = 0; v < g.values.size(); ++v) {
    const Value& value = g.values[v];
    const std::string_view name = g.name(v);
    if (name.empty()) {
      report.violation(concat("value ", v), "it has no name");
      continue;
    }
    if (defined[v] == 0)
      report.violation(concat("value '", name, "'"), "it is declared, but neither an input nor a node defines it");
    std::uint64_t hash = 0xcbf29ce484222325u ^ value.graph;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    std::size_t at = static_cast<std::size_t>(hash ^ (hash >> 32)) & (buckets - 1);
    const auto check = static_cast<std::uint32_t>(hash >> 32);
    while (table[at].value != no_id) {
      const ValueId other = table[at].value;
      if (table[at].hash == check && g.values[other].graph == value.graph && g.name(other) == name) {
        report.violation(concat("value '", name, "'"), "two values of one graph have this name");
        break;
      }
      at = (at + 1) & (buckets - 1);
    }
    if (table[at].value == no_id) table[at] = {v, check};
  }
}

/// Checks that every value has a unique name and valid sizes, and is defined once, before its uses. O(nodes + values).
template <class = void>
constexpr void verify_values(const GraphModuleView& g, Violations& report) {
  std::vector<std::uint8_t> defined(g.values.size(), 0);
  for (GraphId id = 0; id < g.graphs.size(); ++id) verify_definitions(g, id, defined, report);
  verify_names(g, defined, report);
  verify_sizes(g, report);
}

}  // namespace davit::detail
