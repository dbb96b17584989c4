// SPDX-License-Identifier: MIT
#include "davit/core/packed_weights.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

using davit::PackedLayout;
using davit::PackedWeights;

namespace {

/// Weights of 17 outputs and 16 inputs: two blocks, the second with one output.
template <std::int64_t Bits>
constexpr bool check_places() {
  constexpr PackedWeights w{.outputs = 17, .depth = 16, .groups = 2, .bits = Bits};
  static_assert(w.is_valid() && w.blocks() == 2 && w.words() == 16 * Bits / 32);
  std::array<std::int32_t, static_cast<std::size_t>(w.blocks() * w.words() * PackedWeights::block)> words{};
  const auto weight = [](std::int64_t n, std::int64_t k) {
    return static_cast<std::int32_t>((n * 5 + k * 3) % 16 - 8);
  };
  for (std::int64_t n = 0; n < w.outputs; ++n)
    for (std::int64_t k = 0; k < w.depth; ++k) w.put(words.data(), n, k, weight(n, k));
  for (std::int64_t n = 0; n < w.outputs; ++n)
    for (std::int64_t k = 0; k < w.depth; ++k) {
      const auto word = static_cast<std::uint32_t>(words[static_cast<std::size_t>(w.place_of_word(n, k))]);
      const auto above = static_cast<std::uint32_t>(32 - Bits * (k % w.fields() + 1));
      if (static_cast<std::int32_t>(word << above) >> (32 - Bits) != weight(n, k)) return false;
    }
  return w.place_of_scale(16, 1) == 48 && w.place_of_word(1, w.fields()) == 17;
}
static_assert(check_places<4>() && check_places<8>());

/// Rows of 3 outputs and two groups of 10 inputs.
template <std::int64_t Bits>
constexpr bool check_rows() {
  constexpr PackedWeights w{.outputs = 3, .depth = 20, .groups = 2, .bits = Bits, .layout = PackedLayout::rows};
  static_assert(w.is_valid() && w.row_bytes() == 20 * Bits / 8 && w.group_bytes() == 10 * Bits / 8);
  std::array<std::uint8_t, static_cast<std::size_t>(w.outputs * w.row_bytes())> bytes{};
  const auto weight = [](std::int64_t n, std::int64_t k) {
    return static_cast<std::int32_t>((n * 5 + k * 3) % 16 - 8);
  };
  for (std::int64_t n = 0; n < w.outputs; ++n)
    for (std::int64_t k = 0; k < w.depth; ++k) w.put(bytes.data(), n, k, weight(n, k));
  for (std::int64_t n = 0; n < w.outputs; ++n)
    for (std::int64_t k = 0; k < w.depth; ++k) {
      const std::int64_t group = k / 10, at = k % 10;
      const std::int64_t byte = Bits == 8 ? n * 20 + k : n * 10 + group * 5 + at % 5;
      const auto above = static_cast<std::uint32_t>(Bits == 8 || at >= 5 ? 24 : 28);
      const auto word = static_cast<std::uint32_t>(bytes[static_cast<std::size_t>(byte)]);
      if (static_cast<std::int32_t>(word << above) >> (32 - Bits) != weight(n, k)) return false;
    }
  return w.place_of_scale(2, 1) == 5;
}
static_assert(check_rows<4>() && check_rows<8>());

constexpr bool check_groups() {
  const PackedWeights good{.outputs = 3, .depth = 64, .groups = 2, .bits = 4};
  PackedWeights none = good, split = good, uneven = good;
  none.outputs = 0;
  split.groups = 16;  // of 4 inputs, which share a word
  uneven.groups = 3;
  PackedWeights row = split, odd{.outputs = 3, .depth = 9, .groups = 3, .bits = 4, .layout = PackedLayout::rows};
  row.layout = PackedLayout::rows;
  if (!row.is_valid() || odd.is_valid()) return false;
  return good.is_valid() && good.group_size() == 32 && !none.is_valid() && !split.is_valid() && !uneven.is_valid();
}
static_assert(check_groups());

}  // namespace

TEST_CASE("packed weights lie in words of 32 bits, 16 outputs side by side") {
  CHECK(check_places<4>());
  CHECK(check_places<8>());
}
TEST_CASE("packed weights in rows: two of 4 bits share a byte, half of a group apart") {
  CHECK(check_rows<4>());
  CHECK(check_rows<8>());
}
TEST_CASE("groups of packed weights begin at words, or at bytes") { CHECK(check_groups()); }
