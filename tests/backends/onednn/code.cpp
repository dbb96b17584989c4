// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/code.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

using namespace davit;

TEST_CASE("a place is in the root block, at the sum of all offsets on the way") {
  onednn_ops::Code code;
  code.storages = {{.bytes = 512},
                   {.parent = 0, .parent_offset = 128, .bytes = 128},
                   {.parent = 1, .parent_offset = 64, .bytes = 64},
                   {.bytes = 64}};
  const auto root = [&](std::uint32_t storage, std::size_t offset) {
    return code.root_of({.md = {}, .storage = storage, .offset = offset});
  };
  using Root = std::pair<std::uint32_t, std::size_t>;
  CHECK(root(0, 4) == Root{0, 4});
  CHECK(root(1, 4) == Root{0, 132});
  CHECK(root(2, 4) == Root{0, 196});
  CHECK(root(3, 0) == Root{3, 0});
  CHECK_FALSE(onednn_ops::Place{}.is_set());
}
