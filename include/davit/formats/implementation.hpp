// SPDX-License-Identifier: MIT
#pragma once

/// Definitions of the file readers (formats.hpp). Include it in one source file of a program, beside
/// davit/implementation.hpp, or link the library davit-formats.

#include "davit/impl/formats.cpp"
#include "davit/impl/formats_text.cpp"
