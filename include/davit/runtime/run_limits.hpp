// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace davit {

/// Limits of what a session lets a program do.
struct RunLimits {
  std::int64_t max_loop_iterations = std::int64_t{1} << 32;
};

}  // namespace davit
