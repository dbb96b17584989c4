// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's refuses would not be called; it must be static const char* refuses(davit::GraphModuleView, davit::NodeId)
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifdef ACCEPT
  static const char* refuses(davit::GraphModuleView graph, davit::NodeId node);
#else
  static bool refuses(davit::GraphModuleView graph, davit::NodeId node);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
