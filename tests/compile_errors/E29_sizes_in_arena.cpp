// SPDX-License-Identifier: MIT
// EXPECT: davit: tensors whose sizes come with the call are arguments of forward: leave out tensors_in_arena
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

struct program {
  struct of_four : static_toy::residual {
    static constexpr std::array<std::int64_t, 1> symbols{4};
  };
  static constexpr std::string_view name = "program";
  using sizes = davit::static_sizes<of_four>;
};

#ifdef ACCEPT
using module = davit::static_module<program, static_toy::calculator>;
#else
using module = davit::static_module<program, davit::tensors_in_arena, static_toy::calculator>;
#endif
static_assert(module::ram_bytes < 1000);
