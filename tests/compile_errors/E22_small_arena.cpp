// SPDX-License-Identifier: MIT
// EXPECT: davit: the arena has less bytes than the module's arena_bytes
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

using Module = davit::static_module<static_toy::running_total, davit::external_arena, static_toy::calculator>;
Module module;
#ifdef ACCEPT
davit::static_arena<Module::arena_bytes> arena;
#else
davit::static_arena<Module::arena_bytes - 1> arena;
#endif
bool run(std::span<const float, 4> x, std::span<float, 4> y) { return module.forward(arena, x, y).has_value(); }
