// SPDX-License-Identifier: MIT
#pragma once

/// All of testing/: the laws of a backend, comparison of results, an eager run, the judge that compares a lowered
/// program with it, and random programs.

#include "davit/testing/backend_laws.hpp"
#include "davit/testing/compare.hpp"
#include "davit/testing/eager.hpp"
#include "davit/testing/judge.hpp"
#include "davit/testing/random_program.hpp"
