// SPDX-License-Identifier: MIT
#pragma once

#if __cplusplus <= 202002L
#error "davit needs C++23: compile with -std=c++23 (g++ 12.2 or newer, clang 19 or newer)"
#include "davit: compile with -std=c++23"  // there is no such file: the compiler stops here
#endif
