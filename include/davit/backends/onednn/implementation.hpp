// SPDX-License-Identifier: MIT
#pragma once

/// Defines the backend on oneDNN: include it in one source file of a program, beside davit/implementation.hpp, or link
/// the library davit-onednn.

#include "davit/impl/onednn.cpp"
#include "davit/impl/onednn_compile.cpp"
