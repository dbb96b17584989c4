// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

/// Hands the partitions of a program to their backends' preprocess, for embed_program: each becomes a call of a
/// delegate with what the backend saved of its Processed as a constant (see backend/embed_delegate.hpp). Nodes without
/// a tag, and those of control flow's graphs, stay as they are, for other static backends.
///
/// The program must be prepared (prepare_program), as partitioners see programs; a size that is a symbol is one for
/// preprocess too, and a number only when the program is embedded. A partition may read state, but none may keep it.
/// Errors: those of the partitioning and of preprocess; unsupported_argument: a backend that saves nothing, or segments
/// beside its bytes; a partition that would keep state. O(nodes + edges) beside the backends' own work.
[[nodiscard]] Result<ExportedProgram> embed_delegates(const ExportedProgram& program, BackendTables backends,
                                                      PartitionResult partitioning);

/// The same for what a partitioner answers, such as CapabilityPartitioner<BackendList<my_npu>>.
template <Partitioner P>
[[nodiscard]] Result<ExportedProgram> embed_delegates(const ExportedProgram& program, const P& partitioner) {
  auto partitioning = partitioner.partition(Method{"forward", &program});
  if (!partitioning) return error_of(std::move(partitioning));
  return embed_delegates(program, P::Backends::tables(), PartitionResult(std::move(*partitioning)));
}

}  // namespace davit::formats
