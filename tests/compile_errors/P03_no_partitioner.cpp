// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a partitioner needs davit::Result<davit::Partitioning<Backends>> partition(const davit::Method&) const
#include "davit/lowering/to_backend.hpp"
#include "support/mock_backend.hpp"

using Mock = davit::testing::mock_backend<>;

struct Whole {
  using Backends = davit::BackendList<Mock>;
#ifdef ACCEPT
  davit::Result<davit::Partitioning<Backends>> partition(const davit::Method& method) const {
    return davit::Partitioning<Backends>(method.view());
  }
#else
  davit::PartitionTags partition(const davit::Method& method) const { return davit::PartitionTags(method.view()); }
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<Whole>(program).has_value();
}
