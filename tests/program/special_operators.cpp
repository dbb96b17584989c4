// SPDX-License-Identifier: MIT
#include "davit/program/special_operators.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

#include "davit/program/find_schema.hpp"
#include "davit/program/operator_schema.hpp"
#include "davit/program/operators.hpp"

using namespace davit;

namespace {

constexpr bool are_sorted() {
  for (std::size_t i = 1; i < special_operator_schemas.size(); ++i)
    if (!(operator_name(special_operator_schemas[i - 1]) < operator_name(special_operator_schemas[i]))) return false;
  return true;
}
static_assert(are_sorted());
static_assert(find_operator("aten.special_zeta.default") ==
              find_schema(special_operator_schemas, "aten.special_zeta.default"));
static_assert(find_schema(special_operator_schemas, "aten.add.Tensor").empty());

}  // namespace

TEST_CASE("schemas of special functions are found beside the others, and stand in one of the tables only") {
  CHECK(are_sorted());
  for (const std::string_view text : special_operator_schemas) {
    CAPTURE(text);
    CHECK(find_operator(operator_name(text)) == text);
    CHECK(find_schema(operator_schemas, operator_name(text)).empty());
    CHECK(!parse_schema(text).parameters.empty());
  }
}
