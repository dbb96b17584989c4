// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/core/evalue.hpp"

namespace davit {

/// A value passed by the name of its input.
struct NamedValue {
  std::string_view name;
  EValue value;
};

}  // namespace davit
