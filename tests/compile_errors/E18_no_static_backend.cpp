// SPDX-License-Identifier: MIT
// EXPECT: davit: a backend of static_module is no StaticBackend: it needs name, Kernels and embed(node, steps)
#include "davit/embed/static_module.hpp"
#ifdef ACCEPT
#include "davit/backends/portable/embed.hpp"
#endif
#include "support/static_toy.hpp"

namespace davit {
struct portable;
}

static_assert(davit::static_module<static_toy::residual, davit::portable>::ram_bytes < 1000);
