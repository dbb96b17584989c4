// SPDX-License-Identifier: MIT
// EXPECT: davit: the first argument of forward is what its sizes follow from: davit::with_dims(...), a number for each symbol
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

struct program {
  struct of_four : static_toy::residual {
    static constexpr std::array<std::int64_t, 1> symbols{4};
  };
  static constexpr std::string_view name = "program";
  using sizes = davit::static_sizes<of_four>;
};

davit::static_module<program, static_toy::calculator> module;
#ifdef ACCEPT
bool run(std::span<const float> x, std::span<float> y) { return module.forward(davit::with_dims(4), x, y).has_value(); }
#else
bool run(std::span<const float> x, std::span<float> y) { return module.forward(davit::with_dims(4, 1), x, y).has_value(); }
#endif
