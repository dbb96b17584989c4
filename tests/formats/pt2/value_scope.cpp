// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/value_scope.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/program_json.hpp"

using namespace davit;
using namespace davit::formats;
using program_json::value;

TEST_CASE("names are defined once, and before they are used") {
  const std::string text = R"({"tensor_values": {)" + value("b") + ", " + value("a") +
                           R"(}, "sym_int_values": {"s": {"as_int": 3}}, "custom_obj_values": null})";
  const auto document = parse_json(text, "graph");
  REQUIRE(document);
  const Json place = document->root();
  Result<ValueScope> scope = ValueScope::of(place);
  REQUIRE(scope);
  GraphBuilder builder;
  builder.begin_graph();
  ValueReader values(builder);

  CHECK(scope->use("a", place).error().what == "value 'a' is used before it is defined");
  CHECK(scope->define("a", place, values, builder) == 0u);
  CHECK(scope->define("s", place, values, builder) == 1u);
  CHECK(scope->use("a", place) == 0u);
  CHECK(scope->define("a", place, values, builder).error().what == "value 'a' is defined a second time");
  CHECK(scope->define("c", place, values, builder).error().what == "the file does not say what value 'c' is");
  CHECK(scope->use("c", place).error().what == "value 'c' does not exist in this graph");
  CHECK(builder.module().values[1].kind == ValueKind::sym_int);
  CHECK(builder.module().view().name(0) == "a");
}

TEST_CASE("a name in two tables is refused") {
  const std::string text = R"({"tensor_values": {)" + value("a") + R"(}, "sym_int_values": {"a": {"as_int": 3}}})";
  const auto document = parse_json(text, "graph");
  REQUIRE(document);
  const auto scope = ValueScope::of(document->root());
  REQUIRE(!scope);
  CHECK(scope.error().what == "value 'a' is listed twice");
}
