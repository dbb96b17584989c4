// SPDX-License-Identifier: MIT
// EXPECT: tensor
#include <vector>

#include "davit/core/tensor.hpp"

#ifdef ACCEPT
using Integer = unsigned char;
#else
using Integer = double;
#endif

bool make(const std::vector<float>& elements, Integer size) {
  return davit::tensor(elements, {1, elements.size(), size}).has_value();
}
