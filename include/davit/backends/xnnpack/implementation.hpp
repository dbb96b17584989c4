// SPDX-License-Identifier: MIT
#pragma once

/// Defines the backend on XNNPACK: include it in one source file of a program, beside davit/implementation.hpp, or link
/// the library davit-xnnpack.

#include "davit/impl/xnnpack.cpp"
#include "davit/impl/xnnpack_compile.cpp"
