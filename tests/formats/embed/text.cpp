// SPDX-License-Identifier: MIT
#include "davit/formats/embed/text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <string>

namespace {

namespace text = davit::formats::embed_text;
using davit::ScalarType;

template <class T>
std::string element(ScalarType type, T value) {
  std::array<std::byte, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  std::string out;
  text::append_element(out, type, bytes.data(), 0);
  return out;
}

}  // namespace

TEST_CASE("identifiers") {
  CHECK(text::identifier("p_conv1_weight") == "p_conv1_weight");
  CHECK(text::identifier("net.1-weight") == "net_1_weight");
  CHECK(text::identifier("8bit") == "m_8bit");
  CHECK(text::identifier("_x__y") == "m_x_y");
  CHECK(text::identifier("default") == "default_");
  CHECK(text::identifier("weights") == "weights_");
  CHECK(text::identifier("") == "m_");
  CHECK(text::identifier("std") == "std_");
  CHECK(text::identifier("int8_t") == "int8_t_");
}

TEST_CASE("elements read back as the same number") {
  CHECK(element(ScalarType::float32, 1.0f) == "1.0f");
  CHECK(element(ScalarType::float32, 0.1f) == "0.1f");
  CHECK(element(ScalarType::float32, -0.0f) == "-0.0f");
  CHECK(element(ScalarType::float32, 1e-45f) == "1e-45f");
  CHECK(element(ScalarType::float64, 0.1) == "0.1");
  CHECK(element(ScalarType::float32, -std::numeric_limits<float>::infinity()) ==
        "-std::numeric_limits<float>::infinity()");
  CHECK(element(ScalarType::float64, std::numeric_limits<double>::quiet_NaN()) ==
        "std::numeric_limits<double>::quiet_NaN()");
  CHECK(element(ScalarType::int8, std::int8_t{-128}) == "-128");
  CHECK(element(ScalarType::int32, INT32_MIN) == "INT32_MIN");
  CHECK(element(ScalarType::int64, INT64_MIN) == "INT64_MIN");
  CHECK(element(ScalarType::bool_, true) == "true");
}

TEST_CASE("literals are escaped") { CHECK(text::escaped("a\"b\\c??\n\x01") == "a\\\"b\\\\c\\?\\?\\n\\001"); }

TEST_CASE("comments are of one line and plain") {
  CHECK(text::comment("a\\") == "a/");
  CHECK(text::comment("a\r\n#error \x1b[2J\x80") == "a??#error ?[2J?");
}
