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

/// An operator carried out alone: no partition, no plan.
class NodeCall {
 public:
  /// `program`, of one node, on the first of `backends` that takes it; nothing if none does. Errors: what the backend's
  /// preprocess and compile give.
  [[nodiscard]] static Result<std::optional<NodeCall>> make(const ExportedProgram& program, BackendTables backends);

  /// Gives `outputs` their values: views that hold until the next run, or views of inputs. Errors: what the backend
  /// reports; out_of_memory, for more than `max_memory` bytes too.
  [[nodiscard]] Result<void> run(std::span<const EValue> inputs, std::span<EValue> outputs,
                                 std::uint64_t max_memory = UINT64_MAX);

 private:
  const BackendTable* backend_ = nullptr;
  BackendObject handle_;
  std::shared_ptr<void> workspace_;
  Scratch scratch_;
};

}  // namespace davit
