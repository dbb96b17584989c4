// SPDX-License-Identifier: MIT
#include "davit/core/scratch.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "support/sanitized.hpp"

using namespace davit;

TEST_CASE("scratch grows, stays aligned and never shrinks") {
  Scratch scratch;
  CHECK(scratch.span().empty());
  CHECK(scratch.reserve(0));
  REQUIRE(scratch.reserve(100));
  CHECK(reinterpret_cast<std::uintptr_t>(scratch.span().data()) % 64 == 0);
  CHECK(scratch.span().size() == 100);
  CHECK(scratch.reserve(50));
  CHECK(scratch.span().size() == 100);
  Scratch moved = std::move(scratch);
  CHECK(moved.span().size() == 100);
}

TEST_CASE("a failed growth leaves the old scratch" * doctest::skip(sanitized)) {
  Scratch scratch;
  REQUIRE(scratch.reserve(64));
  CHECK(!scratch.reserve(SIZE_MAX / 2));
  CHECK(scratch.span().size() == 64);
}
