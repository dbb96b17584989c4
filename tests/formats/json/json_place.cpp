// SPDX-License-Identifier: MIT
#include "davit/formats/json/json.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

using namespace davit;
using namespace davit::formats;
using formats::detail::place_of;

namespace {

JsonDocument parsed(std::string_view text) {
  auto document = parse_json(text, "root");
  REQUIRE(document);
  return *std::move(document);
}

}  // namespace

TEST_CASE("places are written as in Python, from the name of the document on") {
  const JsonDocument document = parsed(R"({"a": [{"b": 1}, [2, 3]], "c": {}})");
  CHECK(place_of(document, 0) == "root");
  CHECK(place_of(document, 2) == "root.a");
  CHECK(place_of(document, 3) == "root.a[0]");
  CHECK(place_of(document, 5) == "root.a[0].b");
  CHECK(place_of(document, 8) == "root.a[1][1]");
  CHECK(place_of(document, 10) == "root.c");
}
TEST_CASE("every kind has a noun") {
  CHECK(formats::detail::noun_of(JsonKind::true_) == "true");
  for (std::uint8_t kind = 0; kind <= static_cast<std::uint8_t>(JsonKind::object); ++kind)
    CHECK(formats::detail::noun_of(static_cast<JsonKind>(kind)) != "?");
}
TEST_CASE("places of hostile documents stay short and printable") {
  const std::string key(5000, 'k');
  const JsonDocument long_key = parsed("{\"a\\u001b" + key + "\": 1}");
  const std::string place = place_of(long_key, 2);
  CHECK(place.size() < 200);
  CHECK(place.starts_with("root.a?k"));

  const std::uint32_t depth = 100000;
  const JsonDocument deep =
      *parse_json(std::string(depth, '[') + std::string(depth, ']'), "root", {.max_depth = depth});
  CHECK(place_of(deep, depth - 1).size() < 1100);
}
