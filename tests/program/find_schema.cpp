// SPDX-License-Identifier: MIT
#include "davit/program/find_schema.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string_view>

using namespace davit;

namespace {
constexpr std::array<std::string_view, 3> schemas{"aten.a.default(Tensor self) -> Tensor",
                                                  "aten.a.out(Tensor self) -> Tensor", "aten.b.default() -> Tensor"};
}

static_assert(operator_name(schemas[1]) == "aten.a.out");
static_assert(find_schema(schemas, "aten.a.out") == schemas[1]);
static_assert(find_schema(schemas, "aten.a").empty());

TEST_CASE("a schema is found by the whole name of its operator") {
  for (const std::string_view schema : schemas) CHECK(find_schema(schemas, operator_name(schema)) == schema);
  for (const std::string_view name : {"", "aten.a", "aten.a.defaults", "aten.c.default"})
    CHECK(find_schema(schemas, name).empty());
  CHECK(find_schema({}, "aten.a.default").empty());
}
