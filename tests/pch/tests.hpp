// SPDX-License-Identifier: MIT
// Precompiled where tests/run asks for it (-Db_pch=true): in the build that does not check that headers are whole.
#pragma once

#include <doctest/doctest.h>

#include "davit/davit.hpp"
#include "davit/program/graph_builder.hpp"
