// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace davit::operators {

/// A parameter of an operator: its name and its position in the schema.
struct Parameter {
  const char* name;
  std::uint32_t position;
};

}  // namespace davit::operators
