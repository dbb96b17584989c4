// SPDX-License-Identifier: MIT
// EXPECT: davit: forward takes the program's user inputs and then its user outputs, one argument each
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

davit::static_module<static_toy::residual, static_toy::calculator> module;
bool run(std::span<const float, 4> x, std::span<float, 4> y) {
#ifdef ACCEPT
  return module.forward(x, y).has_value();
#else
  return module.forward(x, x, y).has_value();
#endif
}
