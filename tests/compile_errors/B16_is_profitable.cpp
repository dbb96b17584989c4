// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's is_profitable would not be called; it must be static bool is_profitable(davit::GraphModuleView, std::span<const davit::NodeId>)
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifdef ACCEPT
  static bool is_profitable(davit::GraphModuleView graph, std::span<const davit::NodeId> nodes);
#else
  static bool is_profitable(davit::GraphModuleView graph, davit::NodeId node);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
