// SPDX-License-Identifier: MIT
#pragma once

#include <ostream>

#include "davit/core/name.hpp"

namespace davit {

std::ostream& operator<<(std::ostream& out, const Name& name) { return out << name.view(); }

}  // namespace davit
