// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: Session::make takes a lowered program, and this is a davit::Result, which may hold an Error; check it, then pass *lowered
#include "davit/runtime/session.hpp"

bool make(davit::Result<davit::LoweredProgram> lowered) {
#ifdef ACCEPT
  return lowered && davit::Session::make(*lowered).has_value();
#else
  return davit::Session::make(lowered).has_value();
#endif
}
