// SPDX-License-Identifier: MIT
// EXPECT: davit: an argument of forward has other sizes than the program's tensor
// EXPECT: argument 0, input
// EXPECT: float32[4] (4 elements)
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

#ifdef ACCEPT
inline constexpr std::size_t extent = 4;
#else
inline constexpr std::size_t extent = 5;
#endif

davit::static_module<static_toy::residual, static_toy::calculator> module;
bool run(std::span<const float, extent> x, std::span<float, 4> y) {
  return module.forward(x, y).has_value();
}
