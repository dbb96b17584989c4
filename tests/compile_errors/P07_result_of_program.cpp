// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: to_backend takes a program, and this is a davit::Result, which may hold an Error; check it, then pass *program
#include "davit/lowering/to_backend.hpp"
#include "support/mock_backend.hpp"

bool lower(const davit::Result<davit::ExportedProgram>& program) {
#ifdef ACCEPT
  return program && davit::to_backend<davit::testing::mock_backend<>>(*program).has_value();
#else
  return davit::to_backend<davit::testing::mock_backend<>>(program).has_value();
#endif
}
