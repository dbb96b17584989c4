// SPDX-License-Identifier: MIT
#include "davit/program/composite_operators.hpp"

#include <doctest/doctest.h>

using namespace davit;

static_assert(detail::find_schema(composite_schemas, "aten.std.dim").starts_with("aten.std.dim(Tensor self, int[1]? dim"));

TEST_CASE("a schema is found by its whole name") {
  CHECK(detail::find_schema(composite_schemas, "aten.std").empty());
  CHECK(detail::find_schema(composite_schemas, operator_name(composite_schemas.front())) == composite_schemas.front());
  CHECK(detail::find_schema(composite_schemas, operator_name(composite_schemas.back())) == composite_schemas.back());
  CHECK(detail::find_schema({}, "aten.std.dim").empty());
}
