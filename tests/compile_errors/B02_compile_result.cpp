// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend's compile(processed, spec) must return davit::Result<Handle>
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifndef ACCEPT
  static Handle compile(const Processed&, const CompileSpec&);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
