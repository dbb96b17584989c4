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

/// A method of a program with several: its name and its program.
struct ProgramMethod {
  Name name;
  const ExportedProgram* program = nullptr;
};

/// How to_backend lowers a partitioned program.
struct LowerOptions {
  SharedConstants shared_constants = SharedConstants::share;
  bool require_full_delegation =
      false;                    ///< nodes that the partitioner left are an error; else the last backend gets them
  bool keep_originals = false;  ///< keep each partition's program, so that a fallback can preprocess it later
  bool fold_constants = true;   ///< what depends on constants alone is computed now, by the last backend
  bool validate = true;         ///< verify the program, the lowered parent and every partition's program
};

/// How one method is partitioned: a partitioner of any type, behind a function.
struct PartitionCall {
  Name method;
  const void* partitioner = nullptr;
  Result<PartitionResult> (*partition)(const void* partitioner, const Method& method) = nullptr;
  std::vector<std::uint32_t> preference{};  ///< the backends that it uses; empty: all, in the list's order
};

/// Lowers the methods of a program onto `backends`: what every to_backend does. The programs stay untouched.
///
/// Methods that `calls` does not name go to the last backend of the list as they are. What one method changes is state
/// for all methods that hold a tensor of that name, which must have it with the same dtype, sizes and initial value
/// (unsupported_argument). In this order: verify and functionalize all, and take composite
/// operators apart that no backend takes whole (run_decompositions), so that a partitioner sees operators without
/// in-place forms (and other nodes than the caller's program has); for every method fold constants, partition, check
/// the partitioning, cut, preprocess each partition, verify the results; then, once all are well, compile. A partition
/// whose backend is not available here stays uncompiled, with a warning, unless a fallback takes it. Errors: what each
/// step reports, with the place. O(nodes + edges) beside the backends' own work. Source:
/// executorch.exir.backend.backend_api.to_backend.
[[nodiscard]] Result<LoweredProgram> lower_program(BackendTables backends, std::span<const ProgramMethod> methods,
                                                   std::span<const PartitionCall> calls,
                                                   const LowerOptions& options = {},
                                                   Diagnostics* diagnostics = nullptr);

/// Puts every node of a method but control flow on one backend, in as few partitions as its order allows: without
/// control flow in one. `spec` may be null: the backend's default. O(nodes + edges).
[[nodiscard]] PartitionResult whole_method(const Method& method, std::string_view backend_name, std::uint32_t backend,
                                           const BackendObject& spec);

namespace detail {

/// The program of that name. Errors: not_found, with the methods there are.
[[nodiscard]] Result<const ExportedProgram*> find_program(std::span<const ProgramMethod> methods,
                                                          std::string_view name);

}  // namespace detail

}  // namespace davit
