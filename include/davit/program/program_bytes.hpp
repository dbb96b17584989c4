// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/segments.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// Appends a constant argument's value.
void write_constant(ByteWriter& out, const ConstantValue& constant);
/// Reads what write_constant wrote; a bad one turns the reader bad.
[[nodiscard]] ConstantValue read_constant(ByteReader& in);

/// Appends guards; read_guards reads them, and leaves it to its caller to ask guards_fit.
void write_guards(ByteWriter& out, const Guards& guards);
[[nodiscard]] Guards read_guards(ByteReader& in);

/// Appends a program: graphs, signature, tensors (to segments), objects, ranges, guards, versions. Not the module call
/// graph.
void write_program(ByteWriter& out, const ExportedProgram& program, SegmentWriter& segments);

/// Reads what write_program wrote and checks its tables; the rest is for verify(). Errors: corrupt_data with the place.
[[nodiscard]] Result<ExportedProgram> read_program(ByteReader& in, const SegmentReader& segments);

namespace detail {
/// Tensors by name; read_tensors reads what write_tensors wrote.
void write_tensors(ByteWriter& out, std::span<const NamedTensor> tensors, SegmentWriter& segments);
[[nodiscard]] Result<std::vector<NamedTensor>> read_tensors(ByteReader& in, const SegmentReader& segments);
}  // namespace detail

}  // namespace davit
