// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "failure.hpp"

namespace davit::python {

/// A file, or its bytes.
using Source = std::variant<std::string, SharedBytes>;
/// Reads a path: a text, bytes, or os.PathLike. Throws TypeError; invalid_argument for a path with a NUL.
[[nodiscard]] std::string path_of(const py::object& object);
/// Reads a path, or copies bytes. Throws TypeError.
[[nodiscard]] Source source_of(const py::object& object);

/// Runs a program once and returns what its partitions gave, in order: (partition, backend, [(value, its array)]).
[[nodiscard]] py::list partition_values(const LoweredProgram& program, const std::string& method,
                                        std::span<const EValue> inputs);
/// Returns the nodes of a method by name, each with its operator and its source lines.
[[nodiscard]] py::dict nodes_of(const DebugMap& map, std::string_view method);

/// Adds the functions that read, lower and load programs.
void add_programs(py::module_& module);

}  // namespace davit::python
