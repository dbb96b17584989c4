// SPDX-License-Identifier: MIT
#include "davit/formats/json/json.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <vector>

using namespace davit;
using namespace davit::formats;

static_assert(std::input_iterator<JsonArray::Iterator> && std::input_iterator<JsonObject::Iterator>);

TEST_CASE("iterators visit the contents of an element") {
  const auto document = parse_json(R"({"a": [1, [2, 3], {"x": 4}], "b": {}, "c": 5})");
  REQUIRE(document);
  const Result<JsonObject> object = document->root().object();
  REQUIRE(object);
  std::string keys;
  for (const JsonMember member : *object) keys += std::string(member.key) + (member.value.is_array() ? "[" : " ");
  CHECK(keys == "a[b c ");
  const Result<JsonArray> array = document->root().array("a");
  REQUIRE(array);
  auto at = array->begin();
  CHECK(*(*at++).integer() == 1);
  CHECK((*at).is_array());
  CHECK((*++at).is_object());
  CHECK(++at == array->end());
}
TEST_CASE("an empty array ends where it begins") {
  const auto document = parse_json("[]");
  REQUIRE(document);
  const Result<JsonArray> array = document->root().array();
  REQUIRE(array);
  CHECK(array->begin() == array->end());
}
