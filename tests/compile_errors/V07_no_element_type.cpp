// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: no tensor has elements of this type; see davit::scalar_type_of
#include <vector>

#include "davit/core/tensor.hpp"

struct Pixel {
  float red;
};
#ifdef ACCEPT
using Element = float;
#else
using Element = Pixel;
#endif

bool make(std::vector<Element>& elements) { return davit::tensor(elements, {2, 2}).has_value(); }
