// SPDX-License-Identifier: MIT
#pragma once

/// Defines the readers of files (formats.hpp): include it in one source file of a program, beside
/// davit/implementation.hpp, or link the library davit-formats.

#include "davit/impl/formats.cpp"
#include "davit/impl/formats_text.cpp"
