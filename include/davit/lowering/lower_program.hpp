// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/lowering/constant_placement.hpp"
#include "davit/lowering/partitioning.hpp"

namespace davit {

/// One method of a program: its name and its exported program.
struct ProgramMethod {
  Name name;
  const ExportedProgram* program = nullptr;
};

/// Options of to_backend for a partitioned program.
struct LowerOptions {
  SharedConstants shared_constants = SharedConstants::share;
  bool require_full_delegation = false;  ///< no node may be left to the last backend
  bool keep_originals = false;           ///< keep each partition's program: fallbacks can preprocess it later
  bool fold_constants = true;            ///< compute values that depend on constants alone now, on the last backend
  bool validate = true;                  ///< verify the program, the lowered parent and every partition's program
};

/// The partitioner of one method, type-erased.
struct PartitionCall {
  Name method;
  const void* partitioner = nullptr;
  Result<PartitionResult> (*partition)(const void* partitioner, const Method& method) = nullptr;
  std::vector<std::uint32_t> preference{};  ///< the partitioner's backends; empty: all, in the list's order
};

/// Lowers the methods of a program onto `backends`, for every to_backend. The programs stay unchanged.
///
/// Methods that `calls` does not name go to the last backend of the list as they are. A tensor that one method changes
/// is state of all methods with a tensor of that name; dtype, sizes and initial value must agree
/// (unsupported_argument). The steps: verify all methods, functionalize them, and decompose composites that no backend
/// takes whole (run_decompositions), so that partitioners see operators without in-place forms, and other nodes than
/// the caller's program has; for each method fold constants, partition, check the partitioning, cut, preprocess each
/// partition and verify the results; once every method has passed, compile. A partition whose backend is not available
/// here stays uncompiled, with a warning, unless a fallback takes it. Errors: the errors of each step, with the place.
/// O(nodes + edges), plus the backends' own work. Source: executorch.exir.backend.backend_api.to_backend.
[[nodiscard]] Result<LoweredProgram> lower_program(BackendTables backends, std::span<const ProgramMethod> methods,
                                                   std::span<const PartitionCall> calls,
                                                   const LowerOptions& options = {},
                                                   Diagnostics* diagnostics = nullptr);

/// Puts every node of a method except control flow on one backend, in as few partitions as the order of nodes allows:
/// one without control flow. `spec` may be null: the backend's default. O(nodes + edges).
[[nodiscard]] PartitionResult whole_method(const Method& method, std::string_view backend_name, std::uint32_t backend,
                                           const BackendObject& spec);

namespace detail {

/// Returns the program of that name. Errors: not_found, with the names that exist.
[[nodiscard]] Result<const ExportedProgram*> find_program(std::span<const ProgramMethod> methods,
                                                          std::string_view name);

}  // namespace detail

}  // namespace davit
