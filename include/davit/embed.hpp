// SPDX-License-Identifier: MIT
#pragma once

/// Static programs: what a compiler needs to turn a model into firmware.
#include "davit/embed/c_model.hpp"
#include "davit/embed/control_flow.hpp"
#include "davit/embed/control_places.hpp"
#include "davit/embed/control_steps.hpp"
#include "davit/embed/freeze_plan.hpp"
#include "davit/embed/number_partitions.hpp"
#include "davit/embed/place_planner.hpp"
#include "davit/embed/planned_program.hpp"
#include "davit/embed/report_text.hpp"
#include "davit/embed/run_device.hpp"
#include "davit/embed/run_step.hpp"
#include "davit/embed/select_steps.hpp"
#include "davit/embed/static_argument.hpp"
#include "davit/embed/static_assignment.hpp"
#include "davit/embed/static_memory.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/embed/static_plan.hpp"
#include "davit/embed/static_program.hpp"
#include "davit/embed/static_settings.hpp"
