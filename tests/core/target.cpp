// SPDX-License-Identifier: MIT
#include "davit/core/target.hpp"

#include <doctest/doctest.h>

// tests/checks/targets checks that other headers leave the compiler's macros alone
TEST_CASE("a target is one CPU, with that CPU's vectors") {
  static_assert(DAVIT_TARGET_X86_64 + DAVIT_TARGET_ARM64 + DAVIT_TARGET_ARM32 <= 1);
  static_assert(!DAVIT_TARGET_X86_64 || (DAVIT_TARGET_SSE2 && !DAVIT_TARGET_NEON && !DAVIT_TARGET_HELIUM));
  static_assert(!DAVIT_TARGET_ARM64 || (DAVIT_TARGET_NEON && !DAVIT_TARGET_SSE2 && !DAVIT_TARGET_HELIUM));
  static_assert(!(DAVIT_TARGET_HELIUM_INTEGER || DAVIT_TARGET_HELIUM_FLOAT) || DAVIT_TARGET_HELIUM);
  static_assert(!(DAVIT_TARGET_FLOAT_ONLY && DAVIT_TARGET_ARM_DOUBLE));
  CHECK(sizeof(void*) >= 4);
}
