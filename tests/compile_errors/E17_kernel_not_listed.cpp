// SPDX-License-Identifier: MIT
// EXPECT: davit: a backend wrote a step of a kernel that is not in its Kernels; add it to the kernel_list
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

struct forgetful : static_toy::calculator {
#ifndef ACCEPT
  using Kernels = davit::kernel_list<static_toy::add_kernel>;
#endif
};

davit::static_module<static_toy::residual, forgetful> module;
bool run(std::span<const float, 4> x, std::span<float, 4> y) {
  return module.forward(x, y).has_value();
}
