// SPDX-License-Identifier: MIT
// EXPECT: davit: with external_arena the first argument is the arena
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

using Module = davit::static_module<static_toy::running_total, davit::external_arena, static_toy::calculator>;
Module module;
#ifdef ACCEPT
std::array<std::byte, Module::arena_bytes> arena;
#else
int arena = 0;
#endif
bool run(std::span<const float, 4> x, std::span<float, 4> y) { return module.forward(arena, x, y).has_value(); }
