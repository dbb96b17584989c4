// SPDX-License-Identifier: MIT
#pragma once

/// All of ops/.

#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_group.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/ops/parameter.hpp"
#include "davit/ops/pattern_row.hpp"
#include "davit/ops/patterns.hpp"
#include "davit/ops/rules.hpp"
