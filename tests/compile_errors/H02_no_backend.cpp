// SPDX-License-Identifier: MIT
// EXPECT: davit: to_backend<B> needs a backend
#include "davit/lowering/to_backend.hpp"
#include "davit/testing/mock_backend.hpp"

struct nosuch {};

#ifdef ACCEPT
using B = davit::testing::mock_backend<>;
#else
using B = nosuch;
#endif

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<B>(program).has_value();
}
