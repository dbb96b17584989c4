// SPDX-License-Identifier: MIT
#pragma once

/// All of davit that needs only the standard library and Boost.Hana.

#include "davit/backend.hpp"
#include "davit/backends/compiler_demo.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/portable/embed.hpp"
#include "davit/core.hpp"
#include "davit/embed.hpp"
#include "davit/lowering.hpp"
#include "davit/program.hpp"
#include "davit/runtime.hpp"
