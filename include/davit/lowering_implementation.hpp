// SPDX-License-Identifier: MIT
#pragma once

/// Definitions for a program that lowers and runs models. Include it in one source file of the program, with
/// `davit/backends/portable/GROUP_implementation.hpp` of each group of operators that its portable_of names.
/// davit/implementation.hpp defines all.

#include "davit/loader_implementation.hpp"

#include "davit/impl/autotune.cpp"
#include "davit/impl/decomposition.cpp"
#include "davit/impl/lowering.cpp"
#include "davit/impl/training.cpp"
