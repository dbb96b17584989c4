// SPDX-License-Identifier: MIT
#pragma once

/// The header of a program that lowers and runs models; it needs only the standard library and Boost.Hana.
///
/// Other umbrellas: core.hpp, lowering/named_module.hpp (methods by names that the compiler checks), embed.hpp (static
/// programs), lowering.hpp and runtime.hpp (everything behind lowering and running), autotune.hpp (partitioning by
/// measured costs), program.hpp (building, verifying and printing programs), testing.hpp (the laws of a backend),
/// formats.hpp (files).

#include "davit/backend/backend_table.hpp"
#include "davit/backend/constant_of.hpp"
#include "davit/backends/portable.hpp"
#include "davit/core/contiguous.hpp"
#include "davit/core/value_or_exit.hpp"
#include "davit/lowered/print_report.hpp"
#include "davit/lowering/all_node_partitioner.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/config_partitioner.hpp"
#include "davit/lowering/module_partitioner.hpp"
#include "davit/lowering/pattern_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/runtime/typed_method.hpp"
