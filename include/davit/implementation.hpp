// SPDX-License-Identifier: MIT
#pragma once

/// Defines all of davit that needs only the standard library and Boost.Hana: include it in one source file of a
/// program, or link the library davit.

#include "davit/impl/backend.cpp"
#include "davit/impl/autotune.cpp"
#include "davit/impl/checkpoint.cpp"
#include "davit/impl/core.cpp"
#include "davit/impl/decomposition.cpp"
#include "davit/impl/lowered.cpp"
#include "davit/impl/lowering.cpp"
#include "davit/impl/package.cpp"
#include "davit/impl/portable.cpp"
#include "davit/impl/portable_elementwise.cpp"
#include "davit/impl/portable_movement.cpp"
#include "davit/impl/portable_products.cpp"
#include "davit/impl/portable_reductions.cpp"
#include "davit/impl/portable_windows.cpp"
#include "davit/impl/program.cpp"
#include "davit/impl/runtime.cpp"
#include "davit/impl/training.cpp"
