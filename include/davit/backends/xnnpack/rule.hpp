// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/backends/xnnpack/planner.hpp"

namespace davit::xnnpack_parts {

/// A row of the op table: what says whether a node is taken is next to what makes its steps.
struct Rule {
  std::string_view target;
  const char* (*refuses)(const Call& call);
  void (*emit)(Planner& planner, const Call& call);
};

}  // namespace davit::xnnpack_parts
