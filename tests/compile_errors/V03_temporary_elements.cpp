// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: tensor() views its elements, and these are a temporary that ends before the tensor
#include "davit/core/tensor.hpp"

std::vector<float> elements();

bool make() {
#ifdef ACCEPT
  return davit::owned_tensor(elements(), {2, 2}).has_value();
#else
  return davit::tensor(elements(), {2, 2}).has_value();
#endif
}
