// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/index.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;

/// Rows of a (3, 2) tensor, by two indices; `other` is contiguous.
constexpr sf::Indexed<1> rows(bool wraps) {
  sf::Indexed<1> p;
  (void)(p.walk.push(2, {0, 2, 1}) && p.walk.push(2, {1, 1, 0}));
  p.sizes = {3};
  p.steps = {2};
  p.wraps = wraps ? 1 : 0;
  return p;
}
constexpr bool check_index() {
  const std::array<float, 6> x{1, 2, 3, 4, 5, 6};
  const std::array<std::int64_t, 2> at{2, -3};
  std::array<float, 4> y{};
  if (sf::pick<1>(rows(true), x.data(), y.data(), at.data()) != ErrorCode::ok || y != std::array<float, 4>{5, 6, 1, 2})
    return false;
  if (sf::pick<1>(rows(false), x.data(), y.data(), at.data()) != ErrorCode::out_of_range) return false;
  const std::array<std::int32_t, 2> twice{1, 1}, outside{0, 3};
  std::array<float, 6> to = x;
  if (sf::put<true, 1>(rows(true), y.data(), to.data(), twice.data()) != ErrorCode::ok) return false;
  if (to[2] != 3 + y[0] + y[2] || to[3] != 4 + y[1] + y[3] || to[0] != 1) return false;
  to = x;
  if (sf::put_folded<sf::ExtremeOf<true>>(rows(true), y.data(), to.data(), twice.data()) != ErrorCode::ok ||
      to[2] != 5 || to[3] != 6 || to[5] != 6)
    return false;
  to = x;
  if (sf::put<false, 1>(rows(true), y.data(), to.data(), twice.data()) != ErrorCode::ok || to[2] != y[2]) return false;
  return sf::put<false, 1>(rows(true), y.data(), to.data(), outside.data()) == ErrorCode::out_of_range;
}
static_assert(check_index());

constexpr bool check_table_copy() {
  const std::array<std::int8_t, 6> x{1, 2, 3, 4, 5, 6};  // (2, 3), its columns turned around and one more
  const std::array<std::int32_t, 6> offsets{0, 3, 2, 1, 0, 0};
  std::array<std::int8_t, 8> y{};
  sf::table_copy(sf::TableCopy{2, {2, 4}}, x.data(), offsets.data(), y.data());
  return y == std::array<std::int8_t, 8>{3, 2, 1, 1, 6, 5, 4, 4};
}
static_assert(check_table_copy());

constexpr bool check_linear_resize() {
  const std::array<float, 2> x{1, 3};  // one row
  const std::array<std::int32_t, 8> taps{0, 0, 0, 0, 1, 1, 1, 1};
  const std::array<float, 4> shares{0, 0, 0.25f, 1};
  std::array<float, 3> y{};
  sf::linear_resize(sf::LinearResize{1, 1, 2, 1, 3}, x.data(), taps.data(), shares.data(), y.data());
  return y == std::array<float, 3>{1, 1.5f, 3};
}
static_assert(check_linear_resize());

}  // namespace

TEST_CASE("static programs pick and put elements by index; an index outside its dimension is an error") {
  CHECK(check_index());
}
TEST_CASE("static copies by tables of offsets") { CHECK(check_table_copy()); }
TEST_CASE("static images are resized between two elements of each axis") { CHECK(check_linear_resize()); }
