// SPDX-License-Identifier: MIT
#include "davit/program/operators.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "davit/program/operator_schema.hpp"

using namespace davit;

namespace {

constexpr bool check_sorted() {
  for (std::size_t i = 1; i < operator_schemas.size(); ++i)
    if (!(operator_name(operator_schemas[i - 1]) < operator_name(operator_schemas[i]))) return false;
  for (const std::string_view text : composite_schemas)
    if (std::ranges::find(operator_schemas, text) != operator_schemas.end() ||
        find_operator(operator_name(text)) != text)
      return false;
  return std::ranges::is_sorted(composite_schemas, {}, operator_name) && operator_schemas.size() > 190;
}
static_assert(check_sorted());

constexpr bool check_find() {
  return find_operator("aten.add.Tensor") ==
             "aten.add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" &&
         find_operator(operator_name(operator_schemas.front())) == operator_schemas.front() &&
         find_operator(operator_name(operator_schemas.back())) == operator_schemas.back() &&
         find_operator("").empty() && find_operator("aten.add").empty() && find_operator("aten.add.Tensor(").empty() &&
         find_operator("zzz").empty();
}
static_assert(check_find());

}  // namespace

TEST_CASE("the table is sorted by name without repetition, as the search needs") { CHECK(check_sorted()); }
TEST_CASE("operators are found by their full name") { CHECK(check_find()); }
TEST_CASE("every schema parses, and every parameter has a type and a name of its own") {
  std::vector<std::string_view> all(operator_schemas.begin(), operator_schemas.end());
  all.insert(all.end(), composite_schemas.begin(), composite_schemas.end());
  for (const std::string_view text : all) {
    CAPTURE(text);
    const OperatorSchema schema = parse_schema(text);
    CHECK(schema.name == operator_name(text));
    bool keywords = false;
    for (std::size_t i = 0; i < schema.parameters.size(); ++i) {
      const SchemaParameter& p = schema.parameters[i];
      CHECK(!p.type.empty());
      CHECK(!p.name.empty());
      CHECK(p.type.find('(') == std::string_view::npos);
      CHECK(schema.index_of(p.name) == i);
      CHECK((!keywords || p.keyword_only));
      keywords = p.keyword_only;
    }
  }
}
