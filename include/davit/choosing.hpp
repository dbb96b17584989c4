// SPDX-License-Identifier: MIT
#pragma once

/// All of choosing/: partitioners that go by measured costs, and their measurement.

#include "davit/choosing/cheapest_cover.hpp"
#include "davit/choosing/choose_plan.hpp"
#include "davit/choosing/choosing_partitioner.hpp"
#include "davit/choosing/cost_table.hpp"
#include "davit/choosing/divide_regions.hpp"
#include "davit/choosing/made_up_inputs.hpp"
#include "davit/choosing/measure_costs.hpp"
#include "davit/choosing/measuring_partitioner.hpp"
#include "davit/choosing/region_choice.hpp"
#include "davit/choosing/region_key.hpp"
#include "davit/choosing/time_runs.hpp"
