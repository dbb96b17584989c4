// SPDX-License-Identifier: MIT
#pragma once

/// All of lowered/.

#include "davit/lowered/backend_list.hpp"
#include "davit/lowered/check_schedule.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/lowered/partition_report.hpp"
#include "davit/lowered/print_report.hpp"
#include "davit/lowered/schedule.hpp"
#include "davit/lowered/text_table.hpp"
#include "davit/lowered/write_dot.hpp"
