// SPDX-License-Identifier: MIT
// What nearly all tests include, parsed once.
#include <doctest/doctest.h>

#include "davit/davit.hpp"
