// SPDX-License-Identifier: MIT
#pragma once

/// All of autotune/: partitioners by measured costs, and their measurement.

#include "davit/autotune/cheapest_cover.hpp"
#include "davit/autotune/choose_plan.hpp"
#include "davit/autotune/autotune_partitioner.hpp"
#include "davit/autotune/cost_table.hpp"
#include "davit/autotune/divide_regions.hpp"
#include "davit/autotune/synthetic_inputs.hpp"
#include "davit/autotune/measure_costs.hpp"
#include "davit/autotune/measuring_partitioner.hpp"
#include "davit/autotune/region_choice.hpp"
#include "davit/autotune/region_key.hpp"
#include "davit/autotune/time_runs.hpp"
