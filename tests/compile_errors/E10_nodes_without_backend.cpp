// SPDX-License-Identifier: MIT
// EXPECT_FIRST: these_nodes_have_no_backend
// EXPECT_FIRST: aten.relu.default
// EXPECT_FIRST: no addition
// EXPECT: davit: the static_module's program has nodes that no backend takes
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

#ifdef ACCEPT
using Module = davit::static_module<static_toy::residual, static_toy::adder, static_toy::calculator>;
#else
using Module = davit::static_module<static_toy::residual, static_toy::adder>;
#endif

static_assert(Module::ram_bytes < 1000);
