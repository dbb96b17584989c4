// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/dot_rows.hpp"

#include <doctest/doctest.h>
#include <array>
#include <cstdint>

using namespace davit::int8_kernels;

namespace {

static_assert(low_weight(0x7f) == -1 && high_weight(0x7f) == 7 && low_weight(0x87) == 7 && high_weight(0x87) == -8);
static_assert(bytes_of<std::int8_t>(6) == 6 && bytes_of<std::uint8_t>(6) == 3);

/// 1 -2 3 -4 0 7 and -8 6 -5 4 -3 2, as bytes and as halves of bytes, times 10 ... 60, less a zero point of 5.
constexpr bool check_sums() {
  constexpr std::array<std::int8_t, 6> x{10, 20, 30, 40, 50, 60}, a{1, -2, 3, -4, 0, 7}, b{-8, 6, -5, 4, -3, 2};
  constexpr std::array<std::uint8_t, 3> a4{0xc1, 0x0e, 0x73}, b4{0x48, 0xd6, 0x2b};
  const TwoSums sums = dot_rows(plain{}, x.data(), a.data(), b.data(), 6, 5);
  const TwoSums halves = dot_rows(plain{}, x.data(), a4.data(), b4.data(), 6, 5);
  return sums.a == 295 && sums.b == 40 && halves.a == sums.a && halves.b == sums.b;
}
static_assert(check_sums());

}  // namespace

TEST_CASE("sums with weights of 4 bits equal those with the same weights of 8") { CHECK(check_sums()); }
