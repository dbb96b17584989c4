// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: to_backend of a BackendList needs a partitioner: to_backend(program, davit::CapabilityPartitioner<List>())
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "support/mock_backend.hpp"

using List = davit::BackendList<davit::testing::mock_backend<>>;

bool lower(const davit::ExportedProgram& program) {
#ifdef ACCEPT
  return davit::to_backend(program, davit::CapabilityPartitioner<List>()).has_value();
#else
  return davit::to_backend<List>(program).has_value();
#endif
}
