// SPDX-License-Identifier: MIT
#pragma once

#include <ostream>

#include "davit/core/name.hpp"

namespace davit {

DAVIT_INLINE std::ostream& operator<<(std::ostream& out, const Name& name) { return out << name.view(); }

}  // namespace davit
