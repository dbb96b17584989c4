// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "davit/core/name.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// Prints the program's graphs in the style of fx: placeholders, calls, return; sub-graphs after the graph that uses
/// them, indented. The tables must have passed check_tables. O(size of the tables).
///
/// A node with several outputs is one line with all their names; there are no getitem nodes. With types, a value is
/// "%add : float32[s0, 3] [num_users=1]", where fx prints the type that a node was annotated with. Source:
/// torch.fx.Graph.__str__.
enum class PrintTypes : std::uint8_t { no, yes };
[[nodiscard]] std::string print_graph(GraphModuleView graph, PrintTypes types = PrintTypes::no);

/// Prints an argument of a node in Python syntax, values by name: "[%sym_size, 1]", "1e-05". O(size of the text).
[[nodiscard]] std::string print_argument(GraphModuleView graph, const Argument& argument);

/// Describes a value: dtype and sizes of a tensor ("float32[s0, 3]"), or the kind of another value ("int").
[[nodiscard]] Name type_text(GraphModuleView graph, const Value& v);

}  // namespace davit
