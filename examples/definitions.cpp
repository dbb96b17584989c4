// SPDX-License-Identifier: MIT
// davit's headers are declarations. One source file of a program includes the definitions.
#include <davit/formats/implementation.hpp>
#include <davit/implementation.hpp>
