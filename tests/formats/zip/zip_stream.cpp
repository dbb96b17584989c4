// SPDX-License-Identifier: MIT
#include "davit/formats/zip/zip_stream.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <string_view>

using namespace davit::formats::detail;

TEST_CASE("hidden bytes read as zeros") {
  const std::string text = "abcdef";
  davit::formats::detail::ZipStream stream{.bytes = std::as_bytes(std::span(text)), .hidden = 3};
  std::string read(5, '?');
  CHECK(stream.read(read.data(), 5) == 5);
  CHECK(read == std::string("\0\0\0de", 5));
  REQUIRE(stream.seek(4, ZLIB_FILEFUNC_SEEK_SET));
  CHECK(stream.read(read.data(), 2) == 2);
  CHECK(read.substr(0, 2) == "ef");
}
TEST_CASE("reading and seeking stay inside the bytes") {
  ZipStream stream{.bytes = std::as_bytes(std::span(std::string_view("0123456789")))};
  std::string buffer(20, '.');
  CHECK(stream.read(buffer.data(), 3) == 3);
  CHECK(buffer.starts_with("012."));
  CHECK(stream.seek(8, ZLIB_FILEFUNC_SEEK_SET));
  CHECK(stream.read(buffer.data(), 20) == 2);
  CHECK(stream.read(buffer.data(), 20) == 0);
  CHECK(stream.seek(0, ZLIB_FILEFUNC_SEEK_END));
  CHECK(!stream.seek(1, ZLIB_FILEFUNC_SEEK_END));
  CHECK(!stream.seek(11, ZLIB_FILEFUNC_SEEK_SET));
  CHECK(stream.seek(4, ZLIB_FILEFUNC_SEEK_SET));
  CHECK(stream.seek(6, ZLIB_FILEFUNC_SEEK_CUR));
  CHECK(!stream.seek(~std::uint64_t{0}, ZLIB_FILEFUNC_SEEK_CUR));
  CHECK(stream.at == 10);
}
