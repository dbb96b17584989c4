// SPDX-License-Identifier: MIT
// EXPECT: davit: static_module<Program, davit::portable> needs davit/backends/portable/embed.hpp; include it
#include "davit/embed/static_module.hpp"
#ifdef ACCEPT
#include "davit/backends/portable/embed.hpp"
#endif
#include "support/static_toy.hpp"

static_assert(davit::static_module<static_toy::residual, davit::portable>::ram_bytes < 1000);
