// SPDX-License-Identifier: MIT
// Precompiled with clang.

#include <doctest/doctest.h>

#include "davit/davit.hpp"
#include "davit/program/graph_builder.hpp"
