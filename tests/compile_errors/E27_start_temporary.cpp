// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: forward_start needs its arguments until the run has ended, and this one is a temporary that ends before
#include <array>

#include "davit/embed/static_module.hpp"
#include "support/static_device.hpp"

davit::static_module<static_toy::residual, static_device::asynchronous_adder, static_toy::calculator> module;
bool run(std::span<float, 4> y) {
#ifdef ACCEPT
  static const std::array<float, 4> x{};
  return module.forward_start(x, std::span(y)).has_value();
#else
  return module.forward_start(std::array<float, 4>{}, y).has_value();
#endif
}
