// SPDX-License-Identifier: MIT
#include "davit/kernels/walk_in_parallel.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

using davit::Walk;
using davit::kernels::TeamScope;
using davit::kernels::ThreadTeam;
using davit::kernels::walk_in_parallel;
using davit::kernels::WalkPart;

namespace {

/// 5 x 7 x 6 elements, one operand permuted, and the offsets of both in order.
struct Example {
  Walk walk;
  std::vector<std::array<std::int64_t, 2>> places{};

  Example() : walk(std::array<std::int64_t, 3>{5, 7, 6}) {
    walk.add(std::array<std::int64_t, 3>{1, 5, 35}, 4).add(std::array<std::int64_t, 3>{100, 10, 1}, 2).collapse();
    for_each(WalkPart{walk, {}, 0},
             [&](std::int64_t, const std::array<std::int64_t, 2>& place) { places.push_back(place); });
  }
  template <class F>
  static void for_each(const WalkPart& part, F&& f) {
    std::int64_t n = part.before;
    part.walk.for_each_row([&](const auto& at) {
      for (std::int64_t i = 0; i < part.walk.sizes[0]; ++i)
        f(n++, std::array{part.at[0] + at[0] + i * part.walk.strides[0][0],
                          part.at[1] + at[1] + i * part.walk.strides[1][0]});
    });
  }
};

}  // namespace

TEST_CASE("parts of a walk along its outermost dimension are its elements in order") {
  const Example example;
  REQUIRE(example.places.size() == 210);
  ThreadTeam team(3, 1);
  for (ThreadTeam* const used : {static_cast<ThreadTeam*>(nullptr), &team}) {
    const TeamScope scope(used);
    std::vector<int> seen(210);
    std::vector<int> wrong(3);
    std::atomic<int> parts = 0;
    walk_in_parallel(example.walk, 2, 1, [&](std::size_t number, const WalkPart& part) {
      ++parts;
      std::int64_t count = 0;
      Example::for_each(part, [&](std::int64_t n, const std::array<std::int64_t, 2>& place) {
        ++count;
        ++seen[static_cast<std::size_t>(n)];
        wrong[number] += place != example.places[static_cast<std::size_t>(n)];
      });
      wrong[number] += count != part.walk.count;
    });
    CHECK(parts == (used == nullptr ? 1 : 2));  // of 2 and 3 of the 5
    CHECK(seen == std::vector<int>(210, 1));
    CHECK(wrong == std::vector<int>(3, 0));
  }
}

TEST_CASE("parts along another dimension cover it once, and small work stays one") {
  const Example example;
  ThreadTeam team(3, 1);
  const TeamScope scope(&team);
  std::array<std::atomic<int>, 2048> seen{};
  std::atomic<int> parts = 0;
  walk_in_parallel(example.walk, 1, 1, 1, [&](std::size_t, const WalkPart& part) {
    ++parts;
    Example::for_each(part, [&](std::int64_t, const std::array<std::int64_t, 2>& place) {
      ++seen[static_cast<std::size_t>(place[1])];
    });
  });
  CHECK(parts == 3);
  for (const auto& place : example.places) CHECK(seen[static_cast<std::size_t>(place[1])] == 1);
  parts = 0;
  walk_in_parallel(example.walk, 1, 0.001,
                   [&](std::size_t, const WalkPart& part) { parts += part.walk.count == 210 ? 1 : 100; });
  CHECK(parts == 1);
}
