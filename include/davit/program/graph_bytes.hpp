// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/bytes.hpp"
#include "davit/core/error.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// Appends the tables of a program's graphs. O(size of the tables).
void write_graph(ByteWriter& out, GraphModuleView g);

/// Reads the bytes of write_graph and checks every reference. Errors: corrupt_data with the place.
[[nodiscard]] Result<GraphModule> read_graph(ByteReader& in);

}  // namespace davit
