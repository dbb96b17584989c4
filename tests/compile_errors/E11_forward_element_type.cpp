// SPDX-License-Identifier: MIT
// EXPECT: davit: an argument of forward has another element type than the program's tensor
// EXPECT: argument 0, input
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

#ifdef ACCEPT
using Element = float;
#else
using Element = int;
#endif

davit::static_module<static_toy::residual, static_toy::calculator> module;
bool run(std::span<const Element, 4> x, std::span<float, 4> y) {
  return module.forward(x, y).has_value();
}
