// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/pickle_stream.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>

#include "support/zip_file.hpp"

using namespace davit;
using formats::detail::PickleStream;

TEST_CASE("numbers, characters and lines are read in order") {
  PickleStream in(bytes_of("K\x34\x12textline\nend"), "data.pkl");
  std::uint64_t number = 0;
  std::string_view text;
  CHECK(in.opcode(number));
  CHECK(number == 'K');
  CHECK(in.op_offset() == 0);
  CHECK(in.number(2, number));
  CHECK(number == 0x1234);
  CHECK(in.characters(4, text));
  CHECK(text == "text");
  CHECK(in.line(text));
  CHECK(text == "line");
  CHECK(in.at() == 12);
  CHECK(in.skip(3));
  CHECK(!in.failure());
}
TEST_CASE("a truncated stream is an error with the byte of its opcode") {
  PickleStream in(bytes_of("abc"), "data.pkl");
  std::uint64_t number = 0;
  std::string_view text;
  REQUIRE(in.skip(1));
  REQUIRE(in.opcode(number));
  CHECK_FALSE(in.line(text));
  CHECK_FALSE(in.skip(UINT64_MAX));
  CHECK_FALSE(in.characters(2, text));
  CHECK_FALSE(in.number(8, number));
  REQUIRE(in.failure());
  CHECK(in.failure()->where == "data.pkl, byte 1");
  CHECK(in.failure()->what == "the pickle ends too early");
  CHECK(in.at() == 2);
}
