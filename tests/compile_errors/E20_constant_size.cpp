// SPDX-License-Identifier: MIT
// EXPECT: davit: the constant or state of this number does not have the elements that the program's graph says
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

struct program : static_toy::residual {
#ifndef ACCEPT
  static constexpr std::array<float, 3> few{1, -2, 3};
  static constexpr std::array inputs{davit::constant_input(few), davit::user_input()};
#endif
};

static_assert(davit::static_module<program, static_toy::calculator>::ram_bytes < 1000);
