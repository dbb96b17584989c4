// SPDX-License-Identifier: MIT
#include "davit/formats/json/json.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace davit;
using namespace davit::formats;

namespace {

JsonDocument parsed(std::string_view text) {
  auto document = parse_json(text, "root");
  REQUIRE(document);
  return *std::move(document);
}

bool equal(std::string_view a, std::string_view b) {
  const JsonDocument left = parsed(a);
  const JsonDocument right = parsed(b);
  return formats::detail::same(left, 0, right, 0);
}

}  // namespace

TEST_CASE("equality is exact to the type and to the order of members") {
  CHECK(equal(R"({"a": [1, 2.5, null, "x", true]})", R"({ "a":[1,2.5,null,"x",true] })"));
  CHECK(equal("NaN", "NaN"));
  CHECK(!equal("1", "1.0"));
  CHECK(!equal("1", "true"));
  CHECK(!equal("0.0", "-0.0"));
  CHECK(!equal("\"1\"", "1"));
  CHECK(!equal("[]", "{}"));
  CHECK(!equal("[1]", "[1, 2]"));
  CHECK(!equal("[[1], 2]", "[[1, 2]]"));
  CHECK(!equal(R"({"a": 1, "b": 2})", R"({"b": 2, "a": 1})"));
  CHECK(!equal(R"(["ab", "c"])", R"(["a", "bc"])"));
}

TEST_CASE("a part of a document is compared alone") {
  const JsonDocument document = parsed(R"([[1, "a"], [1, "a"], [2, "a"]])");
  CHECK(formats::detail::same(document, 1, document, 4));
  CHECK(!formats::detail::same(document, 1, document, 7));
}
