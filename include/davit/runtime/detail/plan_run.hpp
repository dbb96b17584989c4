// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/error.hpp"
#include "davit/runtime/method_state.hpp"

namespace davit::detail {

/// Passes the addresses of the plan's blocks to the partitions: after buffers have moved. O(blocks).
void assign_addresses(MethodState& m);

/// Computes the sizes of all values and scratch that are known before the run, places them in the arena, and passes the
/// addresses to the partitions. A buffer's new value goes into the buffer's own memory if the partition supports it and
/// nothing reads the old value afterwards. Errors: out_of_memory; those of a backend's prepare. O(size of the
/// schedule).
[[nodiscard]] bool plan_run(MethodState& m, Error& error);

}  // namespace davit::detail
