// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "digits_cnn.hpp"       // written by `davit embed`
#include "digits_cnn_int8.hpp"  // written by `davit embed`

/// The digits network in float32 and in int8, lowered at compile time: the same types on host and boards.
namespace digits {

using Image = std::array<float, 64>;  ///< 8x8, one channel
using Scores = std::array<float, 10>;
using Float = davit::static_module<digits_cnn, davit::external_arena, davit::portable>;
using Int8 = davit::static_module<digits_cnn_int8, davit::external_arena, davit::portable>;
using Arena = davit::static_arena<davit::max_arena<Float, Int8>>;  ///< shared: they run alternately

static_assert(Float::ram_bytes <= 8 * 1024 && Int8::ram_bytes <= 4 * 1024);
static_assert(sizeof(Arena) < Float::arena_bytes + Int8::arena_bytes);

inline std::size_t best(const Scores& scores) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (scores[i] > scores[best]) best = i;
  return best;
}

}  // namespace digits
