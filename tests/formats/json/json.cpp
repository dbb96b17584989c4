// SPDX-License-Identifier: MIT
#include "davit/formats/json/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>

using namespace davit;
using namespace davit::formats;

namespace {

JsonDocument parsed(std::string_view text) {
  auto document = parse_json(text, "root");
  REQUIRE(document);
  return *std::move(document);
}

template <class T>
std::string place_of(const Result<T>& result) {
  REQUIRE(!result);
  CHECK(result.error().code == ErrorCode::corrupt_data);
  CHECK(result.error().stage == Stage::load);
  return std::string(result.error().where.view());
}

}  // namespace

TEST_CASE("values are read by type") {
  const JsonDocument document = parsed(R"({"b": true, "i": -7, "f": 2.5, "s": "text", "a": [1, 2], "o": {"k": 1}})");
  const Json root = document.root();
  CHECK(*root.boolean("b"));
  CHECK(*root.integer("i") == -7);
  CHECK(*root.number("i") == -7.0);
  CHECK(*root.number("f") == 2.5);
  CHECK(*root.string("s") == "text");
  CHECK(root.array("a")->size() == 2);
  CHECK(root.object("o")->size() == 1);
  CHECK(root.tagged("o")->key == "k");
  CHECK(*root.tagged("o")->value.integer() == 1);
}

TEST_CASE("newer torch writes NaN and infinities as strings") {
  const JsonDocument document = parsed(R"({"a": "Infinity", "b": "-Infinity", "c": "NaN", "d": "1"})");
  CHECK(*document.root().number("a") > 0);
  CHECK(*document.root().number("b") < 0);
  CHECK(std::isnan(*document.root().number("c")));
  CHECK(!document.root().number("d"));
}

TEST_CASE("null counts as absent") {
  const JsonDocument document = parsed(R"({"a": null, "b": 1})");
  const Json root = document.root();
  CHECK(!root.find("a")->has_value());
  CHECK(!root.find("absent")->has_value());
  CHECK(root.find("b")->has_value());
  CHECK(place_of(root.at("a")) == "root.a");
}

TEST_CASE("errors name the place") {
  const JsonDocument document = parsed(R"({"specs": [{}, {"arg": {"name": 3}}, {"arg": {"n": 1, "n": 2}}], "x": 1.5})");
  const Json root = document.root();
  const Json second = *++root.array("specs")->begin();
  const Json third = *++ ++root.array("specs")->begin();
  CHECK(place_of(second.at("arg")->string("name")) == "root.specs[1].arg.name");
  CHECK(place_of(second.at("arg")->string("other")) == "root.specs[1].arg.other");
  CHECK(place_of(third.at("arg")->integer("n")) == "root.specs[2].arg.n");
  CHECK(place_of(third.at("arg")->tagged()) == "root.specs[2].arg");
  CHECK(place_of(root.integer("x")) == "root.x");
  CHECK(place_of(root.string()) == "root");
  CHECK(place_of(root.array("specs")->begin().operator*().tagged()) == "root.specs[0]");
  CHECK(place_of(root.at("x")->at("y")) == "root.x");
  CHECK(root.integer("x").error().what == "expected an integer of 64 bits, found a number that is no such integer");
}
