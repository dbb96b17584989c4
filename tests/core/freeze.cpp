// SPDX-License-Identifier: MIT
#include "davit/core/freeze.hpp"

#include <doctest/doctest.h>

#include <array>
#include <type_traits>
#include <vector>

using namespace davit;

namespace {

struct Pair {
  int a = 0;
  int b = 0;
};
constexpr auto squares = freeze<[] {
  std::vector<int> v;
  for (int i = 0; i < 5; ++i) v.push_back(i * i);
  return v;
}>();
constexpr auto pairs = freeze<[] { return std::vector<Pair>{{1, 2}, {3, 4}}; }>();
constexpr auto nothing = freeze<[] { return std::vector<int>{}; }>();
static_assert(std::is_same_v<decltype(squares), const std::array<int, 5>> && squares[4] == 16);
static_assert(pairs.size() == 2 && pairs[1].b == 4 && nothing.empty());

}  // namespace

TEST_CASE("a vector made in constant evaluation becomes an array") {
  CHECK(squares == std::array{0, 1, 4, 9, 16});
  CHECK(pairs[0].a == 1);
}
