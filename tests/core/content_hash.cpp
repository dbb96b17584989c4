// SPDX-License-Identifier: MIT
#include "davit/core/content_hash.hpp"

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace davit;

TEST_CASE("the hash is a function of bytes, size and seed, at any address") {
  const std::vector<std::byte> bytes(37, std::byte{3});
  std::vector<std::byte> shifted(1, std::byte{0});
  shifted.insert(shifted.end(), bytes.begin(), bytes.end());
  CHECK(content_hash(bytes) == content_hash(std::span(shifted).subspan(1)));
  CHECK(content_hash(bytes) != content_hash(std::span(bytes).first(36)));
  CHECK(content_hash(bytes) != content_hash(bytes, 1));
}

TEST_CASE("the hash does not change from version to version: files hold it") {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 20; ++i) bytes.push_back(std::byte{static_cast<unsigned char>(i * 7)});
  CHECK(content_hash({}) == 0u);
  CHECK(content_hash(bytes) == 2169986208080359892u);
  CHECK(content_hash(bytes, 5) == 15689689261254478202u);
}

TEST_CASE("zeros of different lengths, and every flipped bit, have different hashes") {
  std::set<std::uint64_t> seen;
  std::vector<std::byte> bytes;
  for (int size = 0; size < 100; ++size) {
    seen.insert(content_hash(bytes));
    bytes.push_back(std::byte{0});
  }
  CHECK(seen.size() == 100);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{static_cast<unsigned char>(1u << bit % 8)};
    seen.insert(content_hash(bytes));
    bytes[bit / 8] ^= std::byte{static_cast<unsigned char>(1u << bit % 8)};
  }
  CHECK(seen.size() == 100 + 800);
}
