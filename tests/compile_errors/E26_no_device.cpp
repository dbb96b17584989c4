// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: no step of this static_module is a device's: call forward
#include "davit/embed/static_module.hpp"
#include "support/static_device.hpp"

#ifdef ACCEPT
using Module = davit::static_module<static_toy::residual, static_device::asynchronous_adder, static_toy::calculator>;
#else
using Module = davit::static_module<static_toy::residual, static_toy::calculator>;
#endif
Module module;
bool run(std::span<const float, 4> x, std::span<float, 4> y) { return module.forward_start(x, y).has_value(); }
