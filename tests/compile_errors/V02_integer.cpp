// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: the int of an EValue is an int64_t, which does not hold all values of this type
#include "davit/core/evalue.hpp"

#ifdef ACCEPT
using Integer = unsigned;
#else
using Integer = std::size_t;
#endif

davit::EValue value(Integer count) {
  return count;
}
