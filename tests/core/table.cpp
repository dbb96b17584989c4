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

TEST_CASE("a table that was moved from by assignment knows how much it holds") {
  Table<int> a;
  Table<int> b(2, 7);
  a = std::move(b);
  b.clear();
  for (int i = 0; i < 3; ++i) b.push_back(i);  // would write out of bounds if b still had its old capacity
  CHECK(b.size() == 3);
  CHECK(a.size() == 2);
  Table<int> large(100, 1);
  a = std::move(large);
  large.clear();
  for (int i = 0; i < 50; ++i) large.push_back(i);
  CHECK(large.size() == 50);
  CHECK(large.back() == 49);
  CHECK(a.size() == 100);
}
