// SPDX-License-Identifier: MIT
#include "davit/program/schema_version.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace davit;

namespace {

constexpr Error of(std::int64_t minor, ErrorCode code, Name torch = "2.13.0") {
  ProgramTables program;
  program.schema_minor = minor;
  program.torch_version = torch;
  return with_schema(Error{.code = code, .what = "no such kind", .fix = "export again"}, program);
}

constexpr bool known_schema_is_not_mentioned() {
  const Error error = of(schema_minor_version, ErrorCode::corrupt_data);
  return error.code == ErrorCode::corrupt_data && error.what == "no such kind" && error.fix == "export again";
}
constexpr bool newer_schema_is_mentioned() {
  const Error error = of(23, ErrorCode::corrupt_data);
  return error.code == ErrorCode::version_mismatch &&
         error.what == "no such kind (written by torch 2.13.0, schema 8.23; davit knows 8.20)" &&
         error.fix == "use a newer davit, or export the program with an older torch";
}
constexpr bool other_codes_stay() {
  const Error error = of(21, ErrorCode::unsupported_operator, {});
  return error.code == ErrorCode::unsupported_operator &&
         error.what == "no such kind (written with schema 8.21; davit knows 8.20)" && error.fix == "export again";
}

static_assert(known_schema_is_not_mentioned());
static_assert(newer_schema_is_mentioned());
static_assert(other_codes_stay());

}  // namespace

TEST_CASE("an error of a program of a newer schema says so, with both versions") {
  CHECK(known_schema_is_not_mentioned());
  CHECK(newer_schema_is_mentioned());
  CHECK(other_codes_stay());
}
