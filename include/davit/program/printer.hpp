// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "davit/program/graph.hpp"

namespace davit {

/// Prints the program's graphs in the style of fx: placeholders, calls, return; sub-graphs after the graph that uses
/// them, indented. The tables must have passed check_tables. O(size of the tables).
///
/// A node with several outputs is one line with all their names; there are no getitem nodes. Source:
/// torch.fx.Graph.__str__.
[[nodiscard]] std::string print_graph(GraphModuleView graph);

}  // namespace davit
