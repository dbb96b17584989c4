// SPDX-License-Identifier: MIT
#include "../../tools/davit/recorded_case.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string_view>

#include "support/data.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

Result<RecordedValue> read(std::string_view json) {
  const Result<JsonDocument> document = parse_json(json);
  REQUIRE(document);
  return formats::detail::read_case_value(CaseFiles::folder(test_data("models/seed")), document->root());
}

}  // namespace

TEST_CASE("a value of every type") {
  CHECK(read(R"({"type": "none"})")->value().is_none());
  CHECK(read(R"({"type": "int", "value": -3})")->value().as_int() == -3);
  CHECK(read(R"({"type": "float", "value": 0.5})")->value().as_float() == 0.5);
  CHECK(read(R"({"type": "bool", "value": false})")->value().is_bool());
  const Result<RecordedValue> text = read(R"({"type": "str", "value": "text", "name": "mode"})");
  REQUIRE(text);
  CHECK(text->value().as_string() == "text");
  CHECK(text->name == "mode");
}
TEST_CASE("reals that JSON has no number for") {
  CHECK(std::isnan(read(R"({"type": "float", "value": "nan"})")->real));
  CHECK(read(R"({"type": "float", "value": "inf"})")->real > 1e308);
  CHECK(read(R"({"type": "float", "value": "-Infinity"})")->real < -1e308);
  CHECK_FALSE(read(R"({"type": "float", "value": "1"})"));
}
TEST_CASE("tokens and unrecordable values are opaque") {
  CHECK(read(R"({"type": "other"})")->opaque);
  CHECK(read(R"({"type": "tensor", "kind": "TOKEN"})")->opaque);
  CHECK_FALSE(read(R"({"type": "none", "kind": "USER_OUTPUT"})")->opaque);
}
TEST_CASE("tolerances are numbers of 0 or more") {
  CHECK(read(R"({"type": "int", "value": 1, "rtol": 0, "atol": 1e-3})")->atol == 1e-3);
  CHECK(read(R"({"type": "int", "value": 1, "rtol": null})")->rtol.has_value() == false);
  CHECK_FALSE(read(R"({"type": "int", "value": 1, "rtol": -1})"));
  CHECK_FALSE(read(R"({"type": "int", "value": 1, "atol": NaN})"));
}
TEST_CASE("unknown types and missing values are refused") {
  CHECK_FALSE(read(R"({"type": "dict", "value": 1})"));
  CHECK_FALSE(read(R"({"type": "int"})"));
  CHECK_FALSE(read(R"({"type": "int", "value": "1"})"));
  CHECK_FALSE(read(R"({"value": 1})"));
}
