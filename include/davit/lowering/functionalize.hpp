// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Rewrites a verified program without in-place operators: each write makes a new value. A write to a view makes a new
/// base (select_scatter, slice_scatter, ...), and later uses of other views of the base recompute them from it. A write
/// to a buffer, parameter or user input becomes a mutation in the signature, behind the mutations that it has. So do
/// the running statistics of batch_norm in training, although its schema declares no write.
///
/// First it inlines wrapped graphs, and decomposes operators whose schemas hide views or writes (dropout, atleast_2d,
/// hsplit; batch_norm, which becomes its functional form and two copies into the statistics). A call of a backend's own
/// operator (HasOperators) whose schema declares a write, "(a!)", becomes `higher_order.auto_functionalized`, which
/// returns the new values of the written arguments, and copies of these; a program of run_decompositions has that form
/// already.
///
/// Returns nothing if there is no such operator, after a scan of the nodes. A program without a functional form is only
/// decomposed, and runs in the order of its nodes: resize_ and other operators that change a tensor's sizes in place,
/// writes through as_strided, expand and other views without an inverse, writes of a control-flow sub-graph to its
/// operands or to values that it passes through, writes to constants, and operators outside aten. Names and metadata of
/// values and nodes stay; a new value is named after the value that it replaces. O(nodes + edges + recomputed views, at
/// most a multiple of the nodes). Source: torch._functorch's functionalization (aten/src/ATen/FunctionalInverses.cpp);
/// torch._higher_order_ops.auto_functionalize.
[[nodiscard]] std::optional<ExportedProgram> functionalize(const ExportedProgram& program, BackendTables backends = {});

namespace detail {
/// Adapts `interface`, of the functional form of `original`, to its callers: outputs keep their positions and names,
/// and added mutations follow them.
void keep_interface(MethodInterface& interface, const ExportedProgram& original);
}  // namespace detail

}  // namespace davit
