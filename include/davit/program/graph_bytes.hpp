// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/bytes.hpp"
#include "davit/core/error.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// Appends the tables of a program's graphs. O(size of the tables).
void write_graph(ByteWriter& out, GraphModuleView g);

/// Reads what write_graph wrote and checks every reference in it. Errors: corrupt_data with the place.
[[nodiscard]] Result<GraphModule> read_graph(ByteReader& in);

/// Appends a tensor with its storage (only the bytes that it can see).
void write_tensor(ByteWriter& out, const Tensor& t);

/// Reads what write_tensor wrote into a heap block. Errors: corrupt_data, out_of_memory.
[[nodiscard]] Result<Tensor> read_tensor(ByteReader& in);

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/program/impl/graph_bytes.ipp"
#endif
