// SPDX-License-Identifier: MIT
#include "davit/core/shared_bytes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

using namespace davit;

namespace {

constexpr std::array<std::byte, 3> fixed{std::byte{1}, std::byte{2}, std::byte{3}};

constexpr bool check_static() {
  const SharedBytes all{std::span<const std::byte>(fixed)};
  const SharedBytes part = all.part(1, 2);
  SharedBytes moved = part;
  const SharedBytes taken = std::move(moved);
  return part.size() == 2 && part.data() == fixed.data() + 1 && taken.data() == part.data() && moved.empty() &&
         SharedBytes().empty();
}
static_assert(check_static());

int released = 0;
struct Counted : SharedBytes::Owner {
  Counted()
      : Owner([](Owner* self) noexcept {
          ++released;
          delete static_cast<Counted*>(self);
        }) {}
  std::array<std::byte, 4> data{};
};

}  // namespace

TEST_CASE("static bytes need no owner") { CHECK(check_static()); }

TEST_CASE("the owner is released with its last share") {
  released = 0;
  auto* owner = new Counted;
  {
    SharedBytes first(owner->data, owner);
    SharedBytes second = first.part(1, 2);
    first = SharedBytes();
    CHECK(released == 0);
    SharedBytes third = std::move(second);
    CHECK(released == 0);
    CHECK(third.size() == 2);
  }
  CHECK(released == 1);
}

TEST_CASE("a heap block is zeroed and aligned; one that cannot be had is empty") {
  const SharedBytes block = SharedBytes::allocate(1000);
  REQUIRE(block.size() == 1000);
  CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % 64 == 0);
  for (const std::byte b : block.bytes()) REQUIRE(b == std::byte{0});
  CHECK(SharedBytes::allocate(SIZE_MAX).empty());
  CHECK(SharedBytes::allocate(0).empty());
  const SharedBytes copy = SharedBytes::copy_of(fixed);
  CHECK(copy.data() != fixed.data());
  CHECK(copy.bytes()[2] == std::byte{3});
}

TEST_CASE("bytes are shared while someone else holds them, and if nobody owns them") {
  CHECK(SharedBytes(fixed).is_shared());
  CHECK_FALSE(SharedBytes().is_shared());
  const SharedBytes block = SharedBytes::allocate(8);
  CHECK_FALSE(block.is_shared());
  {
    const SharedBytes part = block.part(4, 4);
    CHECK(block.is_shared());
    CHECK(part.is_shared());
  }
  CHECK_FALSE(block.is_shared());
}
