// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/error.hpp"
#include "davit/runtime/method_state.hpp"

namespace davit::detail {

/// Runs a branch or a loop over the slots. `depth` is its nesting depth. Errors: out_of_range for one that is nested
/// too deeply or does not end; those of its graphs. Source: torch._higher_order_ops: cond, while_loop, map, scan.
[[nodiscard]] bool run_control_flow(MethodState& m, const ScheduleStep& step, int depth, Error& error);

}  // namespace davit::detail
