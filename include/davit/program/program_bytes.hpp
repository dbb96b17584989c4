// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/segments.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Appends a constant argument's value.
void write_constant(ByteWriter& out, const ConstantValue& constant);
/// Reads the value of write_constant; invalid bytes set the reader's error state.
[[nodiscard]] ConstantValue read_constant(ByteReader& in);

/// Appends guards; the caller of read_guards must check the result with guards_fit.
void write_guards(ByteWriter& out, const Guards& guards);
[[nodiscard]] Guards read_guards(ByteReader& in);

/// Appends a program: graphs, signature, tensors (as segments), objects, ranges, guards, versions; without the module
/// call graph.
void write_program(ByteWriter& out, const ExportedProgram& program, SegmentWriter& segments);

/// Reads the program of write_program and checks its tables; verify() checks the rest. Errors: corrupt_data with the
/// place.
[[nodiscard]] Result<ExportedProgram> read_program(ByteReader& in, const SegmentReader& segments);

namespace detail {
/// Appends tensors by name; read_tensors reads them back.
void write_tensors(ByteWriter& out, std::span<const NamedTensor> tensors, SegmentWriter& segments);
[[nodiscard]] Result<std::vector<NamedTensor>> read_tensors(ByteReader& in, const SegmentReader& segments);
}  // namespace detail

}  // namespace davit
