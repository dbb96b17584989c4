// SPDX-License-Identifier: MIT
#include "davit/program/composite_operators.hpp"

#include <doctest/doctest.h>

#include "davit/program/find_schema.hpp"

using namespace davit;

static_assert(find_schema(composite_schemas, "aten.std.dim").starts_with("aten.std.dim(Tensor self, int[1]? dim"));

TEST_CASE("a schema is found by its whole name") {
  CHECK(find_schema(composite_schemas, "aten.std").empty());
  CHECK(find_schema(composite_schemas, operator_name(composite_schemas.front())) == composite_schemas.front());
  CHECK(find_schema(composite_schemas, operator_name(composite_schemas.back())) == composite_schemas.back());
  CHECK(find_schema({}, "aten.std.dim").empty());
}
