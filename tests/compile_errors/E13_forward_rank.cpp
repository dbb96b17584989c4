// SPDX-License-Identifier: MIT
// EXPECT: davit: an argument of forward has another rank than the program's tensor
// EXPECT: argument 0, input
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

#ifdef ACCEPT
using Array = float[4];
#else
using Array = float[2][2];
#endif

davit::static_module<static_toy::residual, static_toy::calculator> module;
bool run(const Array& x, std::span<float, 4> y) {
  return module.forward(x, y).has_value();
}
