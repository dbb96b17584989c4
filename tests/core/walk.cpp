// SPDX-License-Identifier: MIT
#include "davit/core/walk.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

using davit::Walk;
using Integers = std::vector<std::int64_t>;

TEST_CASE("dimensions that all operands walk evenly become one") {
  const Integers sizes{2, 1, 3, 4};
  Walk walk(sizes);
  walk.add(Integers{12, 12, 4, 1}, 4).add(Integers{12, 5, 4, 1}, 8).collapse();
  CHECK(walk.rank == 1);
  CHECK(walk.sizes[0] == 24);
  CHECK(walk.is_dense(0, 4));
  CHECK(walk.strides[1][0] == 8);
}
TEST_CASE("an operand that repeats or is turned keeps its dimensions apart") {
  const Integers sizes{2, 3, 4};
  Walk walk(sizes);
  walk.add(Integers{12, 4, 1}, 1).add(Integers{0, 4, 1}, 1).add(Integers{0, 0, 0}, 1).collapse();
  CHECK(walk.rank == 2);
  CHECK(walk.sizes[0] == 12);
  CHECK(walk.is_dense(0, 1));
  CHECK_FALSE(walk.is_dense(1, 1));
  CHECK(walk.is_repeated(2));
  std::vector<std::int64_t> starts;
  walk.for_each_row([&](const auto& at) { starts.insert(starts.end(), {at[0], at[1]}); });
  CHECK(starts == Integers{0, 0, 12, 0});
}
TEST_CASE("no dimension is a row of one element, a dimension of size 0 none") {
  Walk scalar{std::span<const std::int64_t>{}};
  scalar.add({}, 4).collapse();
  CHECK(scalar.rank == 1);
  CHECK(scalar.sizes[0] == 1);
  Walk empty(Integers{2, 0});
  empty.add(Integers{1, 1}, 4).collapse();
  CHECK(empty.count == 0);
}
TEST_CASE("dimensions can be pushed from the innermost on") {
  Walk walk;
  walk.push(3, std::array<std::int64_t, 1>{4}).push(2, std::array<std::int64_t, 1>{0}).collapse();
  CHECK(walk.count == 6);
  CHECK(walk.rank == 2);
}
TEST_CASE("dimensions are sorted by an operand's strides, and counted from the second or the third on") {
  Walk walk(Integers{2, 3, 4});
  walk.add(Integers{1, 2, 6}, 1).add(Integers{12, 4, 1}, 1);
  walk.sort_by(0);
  CHECK(walk.sizes[0] == 2);
  CHECK(walk.sizes[2] == 4);
  CHECK(walk.strides[1][0] == 12);
  Integers places;
  walk.for_each_row([&](const auto& at) { places.push_back(at[1]); }, 2);
  CHECK(places == Integers{0, 1, 2, 3});
  places.clear();
  walk.for_each_row([&](const auto& at) { places.push_back(at[1]); });
  CHECK(places.size() == 12);
  CHECK(places[3] == 1);
}
