// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: an EValue views its tensor, and this one is a temporary that ends before it; give the tensor a name
#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"

davit::Tensor make();

bool use() {
#ifdef ACCEPT
  const davit::Tensor tensor = make();
  const davit::EValue value = tensor;
#else
  const davit::EValue value = make();
#endif
  return value.is_tensor();
}
