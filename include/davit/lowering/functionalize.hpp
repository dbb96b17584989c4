// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// A verified program without in-place operators: what they write is a value of its own, writes to a view make its base
/// anew (select_scatter, slice_scatter, ...), later uses of other views of it are made again from that, and what the
/// program writes to buffers, parameters and user inputs is a mutation in the signature, after the mutations that were
/// there. So are the running statistics of batch_norm in training, although its schema does not say that it writes
/// them.
///
/// Before, graphs that are only wrapped are opened, and operators taken apart of which only the parts tell what they
/// show or write (dropout, atleast_2d, hsplit; batch_norm, which becomes its functional form and two copies into the
/// statistics). Calls of operators whose schemas one of `backends` says (HasOperators) and that write, "(a!)", become
/// `higher_order.auto_functionalized`, which answers the new values of what is written, and copies of these; a program
/// that run_decompositions wrote has them already.
///
/// Nothing if there is no such operator (a scan of the nodes). A program that cannot be written so is only taken apart,
/// and runs in the order of its nodes. Such are resize_ and others that change a tensor's sizes in place, writes
/// through as_strided, expand and other views that are not undone by an operator, writes of a sub-graph of control flow
/// to its operands, or to what passes through it, writes to constants, and operators outside aten. Names and metadata
/// of values and nodes stay; what is new is called after the value that it replaces. O(nodes + edges + what is made
/// again, which is bounded by a multiple of the nodes). Source: torch._functorch's functionalization
/// (aten/src/ATen/FunctionalInverses.cpp); torch._higher_order_ops.auto_functionalize.
[[nodiscard]] std::optional<ExportedProgram> functionalize(const ExportedProgram& program, BackendTables backends = {});

namespace detail {
/// The interface that callers of `original` see, once `interface` is that of its functionalized form: outputs keep
/// their places and names, and the added mutations go behind them.
void keep_interface(MethodInterface& interface, const ExportedProgram& original);
}  // namespace detail

}  // namespace davit
