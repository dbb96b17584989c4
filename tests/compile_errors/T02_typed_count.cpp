// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a typed method takes its inputs and then its outputs, one davit::StaticTensor each
#include "davit/runtime/typed_method.hpp"
#include "support/mock_backend.hpp"

using Three = davit::StaticTensor<float, 3>;
using Add = davit::TypedMethod<davit::testing::mock_backend<>, std::tuple<Three>(Three, Three)>;

bool call(Add& add, Three x, Three h, Three y) {
#ifdef ACCEPT
  return add(x, h, y).has_value();
#else
  return add(x, h).has_value() && y.data != nullptr;
#endif
}
