// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs static davit::Result<Handle> compile(const Processed&, const CompileSpec&);
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifndef ACCEPT
  static davit::Result<Handle> compile(const Processed&);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
