// SPDX-License-Identifier: MIT
// EXPECT: davit: a backend of static_module is no StaticBackend: it needs name, Kernels and embed(node, steps)
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

#ifdef ACCEPT
using Backend = static_toy::calculator;
#else
struct Backend {
  static constexpr std::string_view name = "run_time";
};
#endif

static_assert(davit::static_module<static_toy::residual, Backend>::ram_bytes < 1000);
