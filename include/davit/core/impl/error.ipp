// SPDX-License-Identifier: MIT
#pragma once

#include <ostream>
#include <string>

#include "davit/core/error.hpp"

namespace davit {

DAVIT_INLINE std::string to_string(const Error& error) {
  return std::string(to_name(error).view());
}
DAVIT_INLINE std::ostream& operator<<(std::ostream& out, const Error& error) {
  return out << to_name(error);
}

}  // namespace davit
