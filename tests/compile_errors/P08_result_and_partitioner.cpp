// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: to_backend takes a program, and this is a davit::Result, which may hold an Error; check it, then pass *program
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "support/mock_backend.hpp"

bool lower(davit::Result<davit::ExportedProgram> program, davit::Diagnostics& diagnostics) {
  const davit::CapabilityPartitioner<davit::BackendList<davit::testing::mock_backend<>>> partitioner;
#ifdef ACCEPT
  return program && davit::to_backend(*program, partitioner, {}, &diagnostics).has_value();
#else
  return davit::to_backend(program, partitioner, {}, &diagnostics).has_value();
#endif
}
