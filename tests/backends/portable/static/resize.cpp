// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/resize.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

namespace {

namespace sf = davit::static_kernels;

constexpr bool check_linear_resize() {
  const std::array<float, 2> x{1, 3};  // one row
  const std::array<std::int32_t, 8> taps{0, 0, 0, 0, 1, 1, 1, 1};
  const std::array<float, 4> shares{0, 0, 0.25f, 1};
  std::array<float, 3> y{};
  sf::linear_resize::run(sf::linear_resize::Params{1, 1, 2, 1, 3}, y.data(), x.data(), taps.data(), shares.data());
  return y == std::array<float, 3>{1, 1.5f, 3};
}
static_assert(check_linear_resize());

constexpr bool check_tap_resize() {
  const std::array<float, 2> x{1, 3};  // one row
  const std::array<std::int32_t, 8> taps{1, 0, /* a column of one tap: */ 1, 1, 0, /* one of two: */ 2, 0, 1};
  const std::array<float, 5> weights{1, 1, 0, 0.5f, 0.5f};
  std::array<float, 2> y{};
  sf::tap_resize::run(sf::tap_resize::Params{1, 1, 2, 1, 2, 1, 2}, y.data(), x.data(), taps.data(), weights.data());
  return y == std::array<float, 2>{3, 2};
}
static_assert(check_tap_resize());

}  // namespace

TEST_CASE("static images are resized between two elements of each axis") { CHECK(check_linear_resize()); }
TEST_CASE("static images are resized by the taps of each axis") { CHECK(check_tap_resize()); }
