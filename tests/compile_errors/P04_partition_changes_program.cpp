// SPDX-License-Identifier: MIT
// EXPECT: const std::vector<
#include "davit/lowering/to_backend.hpp"
#include "support/mock_backend.hpp"

using Mock = davit::testing::mock_backend<>;

struct Whole {
  using Backends = davit::BackendList<Mock>;
  davit::Result<davit::Partitioning<Backends>> partition(const davit::Method& method) const {
#ifndef ACCEPT
    method.program->graph_module.nodes.clear();
#endif
    return davit::Partitioning<Backends>(method.view());
  }
};
static_assert(davit::Partitioner<Whole>);
