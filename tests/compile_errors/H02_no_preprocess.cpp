// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs static davit::Result<Processed> preprocess(const davit::Method&, const CompileSpec&, davit::DebugHandleRecorder&)
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

#ifdef ACCEPT
using B = davit::archetype::backend;
#else
using B = davit::archetype::runtime_backend;
#endif

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<B>(program).has_value();
}
