// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: save_program takes a lowered program, and this is a davit::Result, which may hold an Error; check it, then pass *lowered
#include "davit/formats/package.hpp"

bool save(const davit::Result<davit::LoweredProgram>& lowered) {
#ifdef ACCEPT
  return lowered && davit::formats::save_program(*lowered, "model.davit").has_value();
#else
  return davit::formats::save_program(lowered, "model.davit").has_value();
#endif
}
