// SPDX-License-Identifier: MIT
// davit's headers declare. One source file of a program includes the definitions.
#include <davit/formats/implementation.hpp>
#include <davit/implementation.hpp>
