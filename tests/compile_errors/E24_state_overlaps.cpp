// SPDX-License-Identifier: MIT
// EXPECT: davit: methods of the program have other sizes or another initial value for the same state, or state that overlaps
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

struct program {
  static constexpr std::string_view name = "program";
  struct one : static_toy::running_total {};
  struct other : static_toy::running_total {
#ifndef ACCEPT
    static constexpr std::array inputs{davit::shared_state(2, davit::state_input(static_toy::bias)), davit::user_input()};
#endif
  };
  using methods = davit::static_methods<one, other>;
};

static_assert(davit::static_module<program, static_toy::calculator>::ram_bytes < 1000);
