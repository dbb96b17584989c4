// SPDX-License-Identifier: MIT
#pragma once

/// Defines the kernels of davit::ops::sorting: include it in one source file of a program, beside
/// davit/loader_implementation.hpp or davit/lowering_implementation.hpp. davit/implementation.hpp defines those of all
/// groups.

#include "davit/impl/portable/sorting.cpp"
