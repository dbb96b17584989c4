// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/schema_enums.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace davit;
using namespace davit::formats;

namespace {

constexpr bool check_scalar_types() {
  return schema_scalar_type(1) == ScalarType::uint8 && schema_scalar_type(6) == ScalarType::float16 &&
         schema_scalar_type(7) == ScalarType::float32 && schema_scalar_type(12) == ScalarType::bool_ &&
         schema_scalar_type(13) == ScalarType::bfloat16 && schema_scalar_type(28) == ScalarType::uint16 &&
         schema_scalar_type(29) == ScalarType::float8_e4m3fn && schema_scalar_type(30) == ScalarType::float8_e5m2 &&
         schema_scalar_type(33) == ScalarType::float8_e8m0fnu && schema_scalar_type(34) == ScalarType::uint32 &&
         schema_scalar_type(35) == ScalarType::uint64 && schema_scalar_type(36) == ScalarType::undefined &&
         schema_scalar_type(0) == ScalarType::undefined && schema_scalar_type(14) == ScalarType::undefined &&
         schema_scalar_type(-1) == ScalarType::undefined && schema_scalar_type(263) == ScalarType::undefined;
}
static_assert(check_scalar_types());

/// Reads a text with one of the functions; "error" if it refuses.
template <class T>
std::string read(Result<T> (*function)(Json), std::string_view text) {
  const auto document = parse_json(text, "json");
  REQUIRE(document);
  const Result<T> value = function(document->root());
  if (!value) return "error";
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<int>(*value));
  } else {
    return *value;
  }
}

}  // namespace

TEST_CASE("the schema's scalar types are not c10's") { CHECK(check_scalar_types()); }

TEST_CASE("numbers outside the schema are errors") {
  CHECK(read(read_scalar_type, "7") == "6");
  CHECK(read(read_scalar_type, "0") == "error");
  CHECK(read(read_scalar_type, "\"7\"") == "error");
  CHECK(read(read_layout, "7") == "7");
  CHECK(read(read_layout, "8") == "error");
  CHECK(read(read_layout, "-1") == "error");
  CHECK(read(read_layout, "true") == "error");
  CHECK(read(read_memory_format, "2") == "2");
  CHECK(read(read_memory_format, "5") == "error");
  CHECK(read(read_memory_format, "1.0") == "error");
}

TEST_CASE("devices are texts") {
  CHECK(read(read_device, R"({"type": "cpu"})") == "cpu");
  CHECK(read(read_device, R"({"type": "cpu", "index": null})") == "cpu");
  CHECK(read(read_device, R"({"type": "cuda", "index": 1})") == "cuda:1");
  CHECK(read(read_device, R"({"type": "cuda", "index": "1"})") == "error");
  CHECK(read(read_device, R"({"index": 1})") == "error");
}
