// SPDX-License-Identifier: MIT
#include "davit/core/name.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace davit;

namespace {

static_assert(sizeof(Name) == 16);

constexpr bool check_ownership() {
  char text[] = {'a', 'b', 'c'};
  const Name owned(std::string_view(text, 3));
  const Name literal = "abc";
  text[0] = 'x';
  Name moved = owned;
  const Name copy = moved;
  const Name taken = std::move(moved);
  Name assigned;
  assigned = taken;
  return owned == "abc" && literal == owned && copy == literal && taken == literal && assigned == "abc" &&
         Name().empty() && Name("") == Name() && literal.size() == 3 && literal < Name("abd") && literal != Name("ab");
}
static_assert(check_ownership());

constexpr bool check_concat() {
  return concat("x", 1, 'y', std::int64_t{-20}, Name("z"), std::string_view("w")) == "x1y-20zw" && concat().empty() &&
         concat("", Name()).empty() && concat(INT64_MIN) == "-9223372036854775808" &&
         concat(UINT64_MAX) == "18446744073709551615" && concat(0) == "0";
}
static_assert(check_concat());

constexpr bool check_many() {
  std::vector<Name> names;
  for (int i = 0; i < 50; ++i) names.push_back(concat("name", i));
  return names[7] == "name7" && names[49] == "name49";
}
static_assert(check_many());

}  // namespace

TEST_CASE("a name points at a literal or owns its text") { CHECK(check_ownership()); }
TEST_CASE("names are joined from texts and integers") { CHECK(check_concat()); }
TEST_CASE("names live in vectors") { CHECK(check_many()); }
TEST_CASE("names are made from strings and printed") {
  std::string text(1000, 'q');
  const Name name(text);
  text.clear();
  std::ostringstream out;
  out << name;
  CHECK(out.str() == std::string(1000, 'q'));
}
