// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: the signature of a typed method is std::tuple<Outs...>(Ins...), of davit::StaticTensor types
#include <tuple>

#include "davit/runtime/typed_method.hpp"
#include "support/mock_backend.hpp"

using Three = davit::StaticTensor<float, 3>;
#ifdef ACCEPT
using Add = davit::TypedMethod<davit::testing::mock_backend<>, std::tuple<Three>(Three, Three)>;
#else
using Add = davit::TypedMethod<davit::testing::mock_backend<>, Three(Three, Three)>;
#endif

bool is_large() { return sizeof(Add) > 1; }
