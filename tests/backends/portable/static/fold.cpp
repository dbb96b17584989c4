// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/fold.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>

namespace {

namespace sf = davit::static_kernels;

constexpr sf::Reduce rows_of_three() {
  sf::Reduce p;
  (void)(p.kept.push(2, {3}) && p.group.push(3, {1}));
  return p;
}
constexpr bool check_folds() {
  const std::array<bool, 6> t{true, true, false, false, false, false};
  std::array<std::int64_t, 2> counts{};
  sf::fold<sf::SumOf, false>(rows_of_three(), t.data(), counts.data());
  std::array<bool, 2> any{};
  sf::fold<sf::AnyOf, false>(rows_of_three(), t.data(), any.data());
  const std::array<double, 6> x{1, 2, 6, -1, -2, 0};
  std::array<double, 2> mean{}, product{};
  sf::fold<sf::SumOf, true>(rows_of_three(), x.data(), mean.data());
  sf::fold<sf::ProductOf, false>(rows_of_three(), x.data(), product.data());
  if (counts != std::array<std::int64_t, 2>{2, 0} || any != std::array<bool, 2>{true, false}) return false;
  if (mean != std::array<double, 2>{3, -1} || product != std::array<double, 2>{12, 0}) return false;
  std::array<double, 6> sums{};
  sf::scan<sf::SumOf>(sf::Rows{1, 2, 3}, x.data(), sums.data());  // down the columns
  return sums == std::array<double, 6>{1, 2, 6, 0, 0, 6};
}
static_assert(check_folds());

constexpr bool check_orders() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::array<float, 5> x{2, nan, -1, 2, 5};
  std::array<float, 5> values{};
  std::array<std::int64_t, 5> places{};
  sf::ranked(sf::Ranked{{1, 5, 1}, 5, 0}, x.data(), values.data(), places.data());
  if (places != std::array<std::int64_t, 5>{2, 0, 3, 4, 1} || values[0] != -1 || values[3] != 5) return false;
  sf::ranked(sf::Ranked{{1, 5, 1}, 3, 1}, x.data(), values.data(), places.data());
  return places[0] == 1 && places[1] == 4 && places[2] == 0 && values[1] == 5;
}
static_assert(check_orders());

constexpr bool check_running() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::array<float, 5> x{2, 1, 2, nan, 5};
  std::array<float, 5> values{};
  std::array<std::int64_t, 5> places{};
  sf::running_extreme<true>(sf::Rows{1, 5, 1}, x.data(), values.data(), places.data());
  if (places != std::array<std::int64_t, 5>{0, 0, 2, 3, 3} || values[2] != 2 || values[4] >= 0) return false;
  sf::running_extreme<false>(sf::Rows{1, 3, 1}, x.data(), values.data(), places.data());
  if (places[1] != 1 || places[2] != 1 || values[2] != 1) return false;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::array<float, 4> y{-infinity, 0, 0, infinity};
  std::array<float, 4> logs{};
  sf::scan<sf::LogSumOf>(sf::Rows{1, 4, 1}, y.data(), logs.data());
  return logs[0] == -infinity && logs[1] == 0 && logs[2] > 0.693147f && logs[2] < 0.693148f && logs[3] == infinity;
}
static_assert(check_running());

}  // namespace

TEST_CASE("static running extremes: the last of equal ones, NaN prevails; sums of exponentials with infinities") {
  CHECK(check_running());
}
TEST_CASE("static reductions and scans of any type") { CHECK(check_folds()); }
TEST_CASE("static orders: equal elements stay in order, NaN is the greatest") { CHECK(check_orders()); }
