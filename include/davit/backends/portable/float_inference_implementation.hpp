// SPDX-License-Identifier: MIT
#pragma once

/// Defines the kernels of davit::ops::float_inference: include it in one source file of a program, beside
/// davit/loader_implementation.hpp or davit/lowering_implementation.hpp. davit/implementation.hpp defines those of all
/// groups.

#include "davit/impl/portable/elementwise.cpp"
#include "davit/impl/portable/products.cpp"
#include "davit/impl/portable/reductions.cpp"
#include "davit/impl/portable/windows.cpp"
