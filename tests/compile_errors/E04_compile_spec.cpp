// SPDX-License-Identifier: MIT
// EXPECT: CompileSpec
#include "davit/lowering/to_backend.hpp"
#include "support/mock_backend.hpp"

using B = davit::testing::mock_backend<>;

#ifdef ACCEPT
const B::CompileSpec spec{"opt_forward"};
#else
const int spec = 3;
#endif

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<B>(program, spec).has_value();
}
