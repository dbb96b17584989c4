// SPDX-License-Identifier: MIT
// EXPECT: davit: static_module<Program, ...> needs a StaticProgram
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

#ifdef ACCEPT
using Program = static_toy::residual;
#else
struct Program {
  static constexpr std::string_view name = "program";
};
#endif

static_assert(davit::static_module<Program, static_toy::calculator>::ram_bytes < 1000);
