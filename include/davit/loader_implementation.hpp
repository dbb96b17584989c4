// SPDX-License-Identifier: MIT
#pragma once

/// Definitions for a program that loads packages and runs them, without readers and lowering. Include it in one source
/// file of the program, with `davit/backends/portable/GROUP_implementation.hpp` of each group of operators that its
/// portable_of names. davit/implementation.hpp defines all.

#include "davit/impl/backend.cpp"
#include "davit/impl/checkpoint.cpp"
#include "davit/impl/core.cpp"
#include "davit/impl/lowered.cpp"
#include "davit/impl/package.cpp"
#include "davit/impl/portable.cpp"
#include "davit/impl/portable/movement.cpp"
#include "davit/impl/program.cpp"
#include "davit/impl/runtime.cpp"
