// SPDX-License-Identifier: MIT
// EXPECT: davit: the value of this number has sizes that are not its number of elements
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

struct program : static_toy::residual {
#ifndef ACCEPT
  static constexpr auto tables = [] {
    auto changed = static_toy::residual::tables;
    changed.values[1].numel = 400;
    return changed;
  }();
#endif
};

static_assert(davit::static_module<program, static_toy::calculator>::ram_bytes < 1000);
