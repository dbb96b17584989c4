// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/core/evalue.hpp"

namespace davit {

/// An argument passed by name.
struct NamedValue {
  std::string_view name;
  EValue value;
};

}  // namespace davit
