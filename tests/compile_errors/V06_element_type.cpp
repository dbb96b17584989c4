// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: no tensor has elements of this type
#include "davit/core/tensor.hpp"

#ifdef ACCEPT
using Element = long;
#else
using Element = char;
#endif

bool make(const std::vector<Element>& elements) {
  return davit::tensor(elements, {4}).has_value();
}
