// SPDX-License-Identifier: MIT
// EXPECT: davit: an argument of forward is no tensor of fixed extent
// EXPECT: argument 0, input
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

#ifdef ACCEPT
using View = std::span<const float, 4>;
#else
using View = std::span<const float>;
#endif

davit::static_module<static_toy::residual, static_toy::calculator> module;
bool run(View x, std::span<float, 4> y) {
  return module.forward(x, y).has_value();
}
