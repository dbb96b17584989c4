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
  if (sf::pick<1>::run(rows(true), y.data(), x.data(), at.data()) != ErrorCode::ok ||
      y != std::array<float, 4>{5, 6, 1, 2})
    return false;
  if (sf::pick<1>::run(rows(false), y.data(), x.data(), at.data()) != ErrorCode::out_of_range) return false;
  const std::array<std::int32_t, 2> twice{1, 1}, outside{0, 3};
  std::array<float, 6> to = x;
  if (sf::put<sf::SumOf, 1>::run(rows(true), to.data(), y.data(), twice.data()) != ErrorCode::ok) return false;
  if (to[2] != 3 + y[0] + y[2] || to[3] != 4 + y[1] + y[3] || to[0] != 1) return false;
  to = x;
  if (sf::put<sf::ExtremeOf<true>, 1>::run(rows(true), to.data(), y.data(), twice.data()) != ErrorCode::ok ||
      to[2] != 5 || to[3] != 6 || to[5] != 6)
    return false;
  to = x;
  if (sf::put<sf::Replace, 1>::run(rows(true), to.data(), y.data(), twice.data()) != ErrorCode::ok || to[2] != y[2])
    return false;
  return sf::put<sf::Replace, 1>::run(rows(true), to.data(), y.data(), outside.data()) == ErrorCode::out_of_range;
}
static_assert(check_index());

}  // namespace

TEST_CASE("static programs pick and put elements by index; an index outside its dimension is an error") {
  CHECK(check_index());
}
