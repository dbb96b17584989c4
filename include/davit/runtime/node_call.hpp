// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/scratch.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// A single operator that runs outside partitions and plans.
class NodeCall {
 public:
  /// Compiles `program`, which has one node, for the first of `backends` that takes it; nullopt if none does. Errors:
  /// those of the backend's preprocess and compile.
  [[nodiscard]] static Result<std::optional<NodeCall>> make(const ExportedProgram& program, BackendTables backends);

  /// Runs the operator. `outputs` become views that are valid until the next run, or views of inputs. Errors: those of
  /// the backend; out_of_memory, also above `max_memory` bytes.
  [[nodiscard]] Result<void> run(std::span<const EValue> inputs, std::span<EValue> outputs,
                                 std::uint64_t max_memory = UINT64_MAX);

 private:
  const BackendTable* backend_ = nullptr;
  BackendObject handle_;
  std::shared_ptr<void> workspace_;
  Scratch scratch_;
};

}  // namespace davit
