// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: an argument of a typed method has another element type than its signature says
#include "davit/runtime/typed_method.hpp"
#include "support/mock_backend.hpp"

using Three = davit::StaticTensor<float, 3>;
using Add = davit::TypedMethod<davit::testing::mock_backend<>, std::tuple<Three>(Three, Three)>;

#ifdef ACCEPT
using Other = Three;
#else
using Other = davit::StaticTensor<double, 3>;
#endif

bool call(Add& add, Three x, Other h, Three y) {
  return add(x, h, y).has_value();
}
