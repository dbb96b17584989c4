// SPDX-License-Identifier: MIT
// EXPECT: davit: an argument of forward is const, but forward writes it
// EXPECT: argument 1, output
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

#ifdef ACCEPT
using Output = std::span<float, 4>;
#else
using Output = std::span<const float, 4>;
#endif

davit::static_module<static_toy::residual, static_toy::calculator> module;
bool run(std::span<const float, 4> x, Output y) {
  return module.forward(x, y).has_value();
}
