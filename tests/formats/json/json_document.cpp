// SPDX-License-Identifier: MIT
#include "davit/formats/json/json_document.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "davit/formats/json/json.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

double number(const std::string& text) {
  const auto document = parse_json(text);
  REQUIRE_MESSAGE(document, text);
  return document->root().number().value();
}

}  // namespace

TEST_CASE("numbers keep whether they are integers") {
  const auto document = parse_json("[1, 1.0, 1e0, -0, 9223372036854775807, -9223372036854775808]");
  REQUIRE(document);
  std::string kinds;
  const auto items = document->root().array();
  for (const Json item : *items) kinds += item.is_integer() ? 'i' : item.is_real() ? 'r' : '?';
  CHECK(kinds == "irriii");
}

TEST_CASE("numbers are read exactly") {
  CHECK(number("0.1") == 0.1);
  CHECK(number("1e-05") == 1e-05);
  CHECK(number("2.2250738585072014e-308") == 2.2250738585072014e-308);
  CHECK(number("1.7976931348623157e+308") == 1.7976931348623157e+308);
  CHECK(number("0.30000000000000004") == 0.30000000000000004);
  CHECK(number("18446744073709551616") == 18446744073709551616.0);
  CHECK(std::signbit(number("-0.0")));
  CHECK(std::isnan(number("NaN")));
  CHECK(number("Infinity") > 1e308);
  CHECK(number("-Infinity") < -1e308);
}

TEST_CASE("a NUL ends the text") {
  for (const std::string_view text : {std::string_view("{}\0", 3), std::string_view("[1] \0 {}", 8),
                                      std::string_view("1\0"
                                                       "2",
                                                       3),
                                      std::string_view("\0{}", 3)}) {
    const auto document = parse_json(text, "nul");
    REQUIRE(!document);
    CHECK(document.error().where == "nul");
    CHECK(document.error().what.view().find("not JSON at byte") != std::string_view::npos);
  }
  CHECK(parse_json(" {} \n"));
}

TEST_CASE("hostile numbers are errors or near enough") {
  for (const std::string text : {"1e400", "1e-400", "-1e99999999999", "1e-99999999999999999999", "-", "-I", "1.", "1e",
                                 "01", "+1", ".5", "nan", "Infinit", "0x10"}) {
    const auto document = parse_json(text, "numbers");
    REQUIRE_MESSAGE(!document, text);
    CHECK(document.error().stage == Stage::load);
    CHECK(document.error().where == "numbers");
  }
  CHECK(!parse_json("0." + std::string(1000, '0') + '1'));
  CHECK(number("0." + std::string(1000, '0') + "1e1001") == 1.0);
  CHECK(number("0." + std::string(100000, '0')) == 0.0);
  CHECK(number('1' + std::string(300, '0')) == 1e300);
  CHECK(!parse_json(std::string(100000, '9')));
}

TEST_CASE("text that is no JSON is an error") {
  for (const std::string text : {"", " ", "{", "[1,]", "{\"a\" 1}", "[1] 2", "\"a", "\"\x01\"", "\"\\ud800\"",
                                 "\"\xff\"", "\"\xc0\x80\"", "tru", "'a'"})
    CHECK_MESSAGE(!parse_json(text), text);
}

TEST_CASE("nesting takes no stack space") {
  const std::uint32_t depth = 1000000;
  CHECK(parse_json(std::string(depth, '[') + std::string(depth, ']'), "json", {.max_depth = depth}));
  CHECK(!parse_json(std::string(depth, '['), "json", {.max_depth = depth}));
}

TEST_CASE("depth, values and bytes have limits") {
  const auto refusal = [](std::string_view text, Limits limits) {
    const auto read = parse_json(text, "json", limits);
    return read ? std::string() : std::string(read.error().what.view());
  };
  CHECK(refusal(std::string(33000, '['), {}) == "it is nested deeper than Limits::max_depth, at byte 512");
  CHECK(refusal("[[1]]", {.max_depth = 2}).empty());
  CHECK(refusal("[[1]]", {.max_depth = 1}) == "it is nested deeper than Limits::max_depth, at byte 1");
  CHECK(refusal("[1, 2]", {.max_nodes = 3}).empty());
  CHECK(refusal("[1, 2, \"x\"]", {.max_nodes = 3}).starts_with("it has more values than Limits::max_nodes"));
  CHECK(refusal("[1, 2]", {.max_parsed_bytes = 5}) == "the JSON text is larger than Limits::max_parsed_bytes");
}

TEST_CASE("strings are decoded") {
  const auto document = parse_json("\"\\u00e9\\n\\ud83d\\ude00\\u0000x\"");
  REQUIRE(document);
  CHECK(*document->root().string() == std::string_view("\u00e9\n\U0001f600\0x", 9));
}
