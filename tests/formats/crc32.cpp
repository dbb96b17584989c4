// SPDX-License-Identifier: MIT
#include "davit/formats/crc32.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

using namespace davit::formats;

TEST_CASE("checksums are zlib's, of any size and address, whole and in parts") {
  CHECK(crc32_of(std::as_bytes(std::span(std::string_view("123456789")))) == 0xcbf43926);
  std::vector<std::byte> bytes(1100);
  std::uint32_t state = 1;
  for (std::byte& b : bytes) b = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  for (std::size_t first = 0; first < 20; ++first)
    for (std::size_t size = 0; size + first <= bytes.size(); size += size < 200 ? 1 : 97) {
      const std::span<const std::byte> part = std::span(bytes).subspan(first, size);
      const auto expected =
          static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(part.data()), part.size()));
      CAPTURE(size);
      CHECK(crc32_of(part) == expected);
      CHECK(crc32_of(part.subspan(size / 3), crc32_of(part.first(size / 3))) == expected);
    }
}
