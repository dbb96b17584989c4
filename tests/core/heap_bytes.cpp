// SPDX-License-Identifier: MIT
#include "davit/core/heap_bytes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "support/sanitized.hpp"

using namespace davit;

TEST_CASE("bytes of the heap are aligned to 64, large ones to a huge page, and can all be written") {
  constexpr std::size_t huge = 2u << 20;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, huge - 1, huge, huge + 1, 5 * huge / 2}) {
    void* const bytes = allocate_bytes(size);
    REQUIRE(bytes != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(bytes) % (size < huge ? 64 : huge) == 0);
    std::memset(bytes, 1, size);
    free_bytes(bytes, size);
  }
  free_bytes(nullptr, 0);
}

TEST_CASE("more bytes than there are are none" * doctest::skip(sanitized)) {
  CHECK(allocate_bytes(SIZE_MAX / 2) == nullptr);
}
