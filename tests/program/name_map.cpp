// SPDX-License-Identifier: MIT
#include "davit/program/name_map.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace davit;

namespace {

constexpr bool check_dict() {
  const NameMap pairs{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"c", "4"}, {"b", "5"}, {"a", "6"}};
  return as_dict(pairs) == NameMap{{"a", "6"}, {"b", "5"}, {"c", "4"}} && as_dict({}).empty();
}
static_assert(check_dict());

constexpr bool check_index() {
  const std::vector<Name> names{"x", "y", "x", "", "z", "x"};
  const NameIndex index(names);
  return index.first("x") == 0 && index.last("x") == 5 && index.first("y") == 1 && index.last("y") == 1 &&
         index.contains("") && !index.contains("w") && index.first("w") == NameIndex::not_found &&
         index.last("zz") == NameIndex::not_found && index.last("a") == NameIndex::not_found && index.distinct() == 4 &&
         NameIndex().distinct() == 0 && !NameIndex().contains("");
}
static_assert(check_index());

}  // namespace

TEST_CASE("a repeated key stays where it was first and takes its last value") { CHECK(check_dict()); }
TEST_CASE("an index finds the first and the last place of a name") { CHECK(check_index()); }

TEST_CASE("a mapping of many equal keys takes no quadratic time") {
  NameMap pairs;
  for (int i = 0; i < 100000; ++i) pairs.push_back({"same", "value"});
  pairs.push_back({"same", "last"});
  CHECK(as_dict(pairs) == NameMap{{"same", "last"}});
}
