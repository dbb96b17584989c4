// SPDX-License-Identifier: MIT
#include "davit/core/table.hpp"

#include <doctest/doctest.h>

#include <array>
#include <utility>

namespace {

using davit::Table;

constexpr bool grows() {
  Table<int> table;
  for (int i = 0; i < 100; ++i) table.push_back(i);
  constexpr std::array<int, 3> more{7, 8, 9};
  table.append(more.data(), more.size());
  int sum = 0;
  for (const int v : table) sum += v;
  return table.size() == 103 && table.back() == 9 && sum == 4974;
}
static_assert(grows());

constexpr bool moves() {
  Table<int> a(3, 5);
  Table<int> b = std::move(a);
  a = Table<int>(1, 2);
  std::swap(a, b);
  b.shrink(2);
  const bool shrunk = b.size() == 2 && Table<int>(3)[2] == 0;
  b.clear();
  return shrunk && a.size() == 3 && a[2] == 5 && b.empty();
}
static_assert(moves());

}  // namespace

TEST_CASE("a table grows and moves") {
  CHECK(grows());
  CHECK(moves());
}
