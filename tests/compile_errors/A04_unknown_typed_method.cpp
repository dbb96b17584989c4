// SPDX-License-Identifier: MIT
// EXPECT: davit: the program was not lowered with a method of this name
#include "davit/lowering/named_module.hpp"
#include "support/mock_backend.hpp"

using namespace davit::literals;
using Vector = davit::StaticTensor<float, 3>;
using Module = davit::NamedModule<davit::testing::mock_backend<>, decltype("forward"_s)>;

#ifdef ACCEPT
bool run(Module& module) {
  return module.typed<std::tuple<Vector>(Vector)>("forward"_s).has_value();
}
#else
bool run(Module& module) {
  return module.typed<std::tuple<Vector>(Vector)>("backward"_s).has_value();
}
#endif
