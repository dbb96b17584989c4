// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

/// Passes the partitions of a program to their backends' preprocess, for embed_program. Each partition becomes a call
/// of a delegate with the bytes that the backend saved as a constant (see backend/embed_delegate.hpp). Nodes without a
/// tag and nodes in graphs of control flow stay as they are, for other static backends.
///
/// The program must be prepared (prepare_program), as partitioners expect. A symbolic size is also a symbol for
/// preprocess; it gets its number when the program is embedded. A partition may read state, but not keep it. Errors:
/// errors of the partitioner and of preprocess; unsupported_argument for a backend that saves nothing or saves segments
/// besides its bytes, and for a partition that would keep state. O(nodes + edges), plus the backends' own work.
[[nodiscard]] Result<ExportedProgram> embed_delegates(const ExportedProgram& program, BackendTables backends,
                                                      PartitionResult partitioning);

/// Does the same with a partitioner, such as CapabilityPartitioner<BackendList<my_npu>>.
template <Partitioner P>
[[nodiscard]] Result<ExportedProgram> embed_delegates(const ExportedProgram& program, const P& partitioner) {
  auto partitioning = partitioner.partition(Method{"forward", &program});
  if (!partitioning) return error_of(std::move(partitioning));
  return embed_delegates(program, P::Backends::tables(), PartitionResult(std::move(*partitioning)));
}

}  // namespace davit::formats
