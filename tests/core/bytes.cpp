// SPDX-License-Identifier: MIT
#include "davit/core/bytes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace davit;

TEST_CASE("written values are read in the same order") {
  ByteWriter out;
  out.number(std::uint8_t{7});
  out.number(-1.5);
  out.text("hello");
  const std::vector<std::uint32_t> list{1, 2, 3};
  out.array(std::span<const std::uint32_t>(list));
  out.align(64);
  out.bytes(std::vector<std::byte>(3, std::byte{9}));
  ByteReader in(out.written());
  CHECK(in.number<std::uint8_t>() == 7);
  CHECK(in.number<double>() == -1.5);
  CHECK(in.text() == "hello");
  CHECK(in.array<std::uint32_t>() == list);
  in.align(64);
  CHECK(in.position() % 64 == 0);
  CHECK(in.bytes().size() == 3);
  CHECK(in.ok());
  CHECK(in.at_end());
  CHECK(in.number<std::uint8_t>() == 0);
  CHECK(!in.ok());
}

TEST_CASE("sizes that the bytes cannot hold make the reader bad, and nothing is allocated for them") {
  for (const std::uint64_t size : {std::uint64_t{9}, std::uint64_t{1} << 40, UINT64_MAX}) {
    ByteWriter out;
    out.number(size);
    out.number(std::uint64_t{0});
    ByteReader text(out.written());
    CHECK(text.text().empty());
    CHECK(!text.ok());
    ByteReader array(out.written());
    CHECK(array.array<std::uint64_t>().empty());
    CHECK(!array.ok());
    ByteReader bytes(out.written());
    CHECK(bytes.bytes().empty());
    CHECK(!bytes.ok());
    ByteReader count(out.written());
    CHECK(count.count(8) == 0);
    CHECK(!count.ok());
  }
}

TEST_CASE("a bad reader stays bad and returns nothing") {
  ByteWriter out;
  out.number(std::uint64_t{1});
  ByteReader in(out.written());
  in.fail();
  CHECK(in.number<std::uint64_t>() == 0);
  CHECK(in.text().empty());
  CHECK(in.array<std::uint8_t>().empty());
  CHECK(in.count() == 0);
  CHECK(!in.ok());
  ByteReader empty({});
  CHECK(empty.at_end());
  CHECK(empty.array<std::uint64_t>().empty());
  CHECK(!empty.ok());
}
