// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/error.hpp"
#include "davit/runtime/method_state.hpp"

namespace davit::detail {

/// Runs the steps of a graph over the slots. `depth` is the nesting depth of control flow.
[[nodiscard]] bool run_graph(MethodState& m, GraphId graph, int depth, Error& error);

}  // namespace davit::detail
