// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend's preprocess(method, spec, debug_handles) must return davit::Result<Processed>
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifndef ACCEPT
  static Processed preprocess(const davit::Method&, const CompileSpec&, davit::DebugHandleRecorder&);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
