// SPDX-License-Identifier: MIT
// EXPECT: davit: the program has no such method; its methods are the types in P::methods
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

struct program {
  static constexpr std::string_view name = "program";
#ifdef ACCEPT
  using methods = davit::static_methods<static_toy::residual, static_toy::running_total>;
#else
  using methods = davit::static_methods<static_toy::residual>;
#endif
};

davit::static_module<program, static_toy::calculator> module;
bool run(std::span<const float, 4> x, std::span<float, 4> y) { return module.call<static_toy::running_total>(x, y).has_value(); }
