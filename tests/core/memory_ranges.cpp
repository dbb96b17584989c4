// SPDX-License-Identifier: MIT
#include "davit/core/memory_ranges.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace davit;

TEST_CASE("many memory_ranges meet a tensor where one of them overlaps it, whether questions were expected or not") {
  static std::byte memory[64];
  std::uint32_t seed = 5;
  const auto random = [&](std::uint32_t below) { return ((seed = seed * 1664525u + 1013904223u) >> 9) % below; };
  const auto some = [&](std::uint32_t longest) {
    const std::uint32_t begin = random(60), size = random(longest);
    return MemoryRange{memory + begin, memory + std::min(begin + size, 64u)};
  };
  MemoryRanges sorted, plain;
  for (int round = 0; round < 200; ++round) {
    std::vector<MemoryRange> all;
    sorted.clear();
    plain.clear();
    const std::uint32_t count = random(20);
    for (std::uint32_t i = 0; i < count; ++i) {
      all.push_back(random(8) == 0 ? MemoryRange{} : some(random(6) + 1));
      sorted.add(all.back());
      plain.add(all.back());
    }
    sorted.expect(1000);
    plain.expect(1);
    const MemoryRanges whole(all);
    CHECK(whole.size() == count);
    CHECK(whole.empty() == (count == 0));
    for (int question = 0; question < 20; ++question) {
      const MemoryRange asked = random(8) == 0 ? MemoryRange{} : some(random(10) + 1);
      const bool met = std::ranges::any_of(all, [&](const MemoryRange& one) { return overlap(one, asked); });
      if (sorted.meet(asked) != met || plain.meet(asked) != met || whole.meet(asked) != met)
        FAIL_CHECK("another answer");
    }
  }
}
