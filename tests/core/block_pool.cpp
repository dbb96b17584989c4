// SPDX-License-Identifier: MIT
#include "davit/core/block_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "support/sanitized.hpp"

using namespace davit;

namespace {

bool is_zero(const SharedBytes& bytes) {
  return std::ranges::all_of(bytes.bytes(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

TEST_CASE("a pool's bytes are aligned, zeroed, apart, and outlive it") {
  constexpr std::size_t kib = 1024;
  std::vector<SharedBytes> all;
  {
    BlockPool pool;
    for (std::size_t i = 0; i < 40; ++i)
      for (const std::size_t size :
           {std::size_t{0}, std::size_t{10}, 64 * kib + 1, 700 * kib, 4096 * kib, 4097 * kib}) {
        if (size > 1024 * kib && i > 3) continue;
        all.push_back(pool.allocate(size));
        REQUIRE(all.back().size() == size);
        CHECK(reinterpret_cast<std::uintptr_t>(all.back().data()) % 64 == 0);
        CHECK(is_zero(all.back()));
        if (size != 0)
          std::ranges::fill(all.back().writable(), all.back().writable() + size, static_cast<std::byte>(all.size()));
      }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(std::ranges::all_of(all[i].bytes(), [&](std::byte b) { return b == static_cast<std::byte>(i + 1); }));
}

TEST_CASE("many blocks of middling size are adjacent, a few do not share a block") {
  constexpr std::size_t size = 1 << 20;
  BlockPool pool;
  std::vector<SharedBytes> all;
  for (int i = 0; i < 12; ++i) all.push_back(pool.allocate(size));
  CHECK(all[0].owner() != all[1].owner());
  CHECK(all[10].owner() == all[11].owner());
  CHECK(all[11].data() == all[10].data() + size);
}

TEST_CASE("a pool copies, and returns nothing if there is no memory" * doctest::skip(sanitized)) {
  BlockPool pool;
  const std::vector<std::byte> bytes(100000, std::byte{7});
  const SharedBytes copy = pool.copy_of(bytes);
  CHECK(std::ranges::equal(copy.bytes(), bytes));
  CHECK(copy.data() != bytes.data());
  volatile std::size_t all = SIZE_MAX / 2;  // volatile, because compilers warn of a constant of this size
  CHECK(pool.allocate(all).empty());
}
