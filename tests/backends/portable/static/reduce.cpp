// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/reduce.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "davit/backend/step_writer.hpp"
#include "davit/backends/portable/run_time/reductions/reductions.hpp"
#include "support/static_kernels_test.hpp"

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;
using davit::EValue;
using davit::portable_kernels::reduction_ops;

/// The reduction of a contiguous tensor over the dimensions of a mask.
constexpr sf::Reduce reduction(const std::array<std::int32_t, 4>& sizes, unsigned mask) {
  sf::Reduce r;
  for (std::size_t d = 0; d < 4; ++d) {
    std::int32_t stride = 1;
    for (std::size_t e = d + 1; e < 4; ++e) stride *= sizes[e];
    (void)((mask >> d & 1) != 0 ? r.group : r.kept).push(sizes[d], {stride});
  }
  return r;
}

constexpr bool check_in_constant_evaluation() {
  const std::array<float, 6> x{1, 2, 3, 4, 9, 6};
  const sf::Reduce rows = reduction({1, 1, 2, 3}, 8);
  std::array<float, 2> y{};
  sf::fold<sf::SumOf, true>::run(rows, y.data(), x.data());
  if (y[0] != 2 || y[1] < 6.33f || y[1] > 6.34f) return false;
  std::array<std::int64_t, 2> at{};
  sf::arg_extreme<true>::run(rows, at.data(), x.data());
  std::array<float, 3> columns{};
  sf::fold<sf::SumOf>::run(reduction({1, 1, 2, 3}, 4), columns.data(), x.data());
  return at == std::array<std::int64_t, 2>{2, 1} && columns == std::array<float, 3>{5, 11, 9};
}
static_assert(check_in_constant_evaluation());

constexpr sf::Reduce rows_of_three() {
  sf::Reduce p;
  (void)(p.kept.push(2, {3}) && p.group.push(3, {1}));
  return p;
}
constexpr bool check_folds() {
  const std::array<bool, 6> t{true, true, false, false, false, false};
  std::array<std::int64_t, 2> counts{};
  sf::fold<sf::SumOf, false>::run(rows_of_three(), counts.data(), t.data());
  std::array<bool, 2> any{};
  sf::fold<sf::AnyOf, false>::run(rows_of_three(), any.data(), t.data());
  const std::array<double, 6> x{1, 2, 6, -1, -2, 0};
  std::array<double, 2> mean{}, product{};
  sf::fold<sf::SumOf, true>::run(rows_of_three(), mean.data(), x.data());
  sf::fold<sf::ProductOf, false>::run(rows_of_three(), product.data(), x.data());
  if (counts != std::array<std::int64_t, 2>{2, 0} || any != std::array<bool, 2>{true, false}) return false;
  if (mean != std::array<double, 2>{3, -1} || product != std::array<double, 2>{12, 0}) return false;
  std::array<double, 6> sums{};
  sf::scan<sf::SumOf>::run(sf::Rows{1, 2, 3}, sums.data(), x.data());  // down the columns
  return sums == std::array<double, 6>{1, 2, 6, 0, 0, 6};
}
static_assert(check_folds());

constexpr bool check_orders() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::array<float, 5> x{2, nan, -1, 2, 5};
  std::array<float, 5> values{};
  std::array<std::int64_t, 5> places{};
  sf::ranked::run(sf::ranked::Params{{1, 5, 1}, 5, 0}, values.data(), places.data(), x.data());
  if (places != std::array<std::int64_t, 5>{2, 0, 3, 4, 1} || values[0] != -1 || values[3] != 5) return false;
  sf::ranked::run(sf::ranked::Params{{1, 5, 1}, 3, 1}, values.data(), places.data(), x.data());
  return places[0] == 1 && places[1] == 4 && places[2] == 0 && values[1] == 5;
}
static_assert(check_orders());

constexpr bool check_running() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::array<float, 5> x{2, 1, 2, nan, 5};
  std::array<float, 5> values{};
  std::array<std::int64_t, 5> places{};
  sf::running_extreme<true>::run(sf::Rows{1, 5, 1}, values.data(), places.data(), x.data());
  if (places != std::array<std::int64_t, 5>{0, 0, 2, 3, 3} || values[2] != 2 || values[4] >= 0) return false;
  sf::running_extreme<false>::run(sf::Rows{1, 3, 1}, values.data(), places.data(), x.data());
  if (places[1] != 1 || places[2] != 1 || values[2] != 1) return false;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::array<float, 4> y{-infinity, 0, 0, infinity};
  std::array<float, 4> logs{};
  sf::scan<sf::LogSumOf>::run(sf::Rows{1, 4, 1}, logs.data(), y.data());
  return logs[0] == -infinity && logs[1] == 0 && logs[2] > 0.693147f && logs[2] < 0.693148f && logs[3] == infinity;
}
static_assert(check_running());

}  // namespace

TEST_CASE("static reductions: small ones, also in constant evaluation") { CHECK(check_in_constant_evaluation()); }

TEST_CASE("static reductions: the bits of portable's, but for sums, which it adds in another order") {
  StaticFloatTest test;
  for (unsigned mask = 1; mask < 16; ++mask) {
    const std::array<std::int32_t, 4> sizes{test.pick(1, 3), test.pick(1, 5), test.pick(1, 6), test.pick(1, 20)};
    const EValue x = test.random_tensor({sizes[0], sizes[1], sizes[2], sizes[3]});
    if (mask % 4 == 0) floats_of(x)[0] = __builtin_nanf("");
    const sf::Reduce r = reduction(sizes, mask);
    std::vector<EValue> dims;
    for (int d = 0; d < 4; ++d)
      if ((mask >> d & 1) != 0) dims.push_back(EValue(d - 4));
    const EValue list = std::span<const EValue>(dims);
    CAPTURE(mask);
    const auto check = [&](std::string_view name, auto&& kernel) {
      std::vector<EValue> arguments{x, list, EValue(false)};
      const bool is_sum = name != "aten.amax.default" && name != "aten.amin.default";
      if (is_sum) arguments.push_back(EValue());
      REQUIRE(test.run(reduction_ops, name, arguments) == ErrorCode::ok);
      std::vector<float> y = test.room();
      kernel(y.data());
      CHECK((is_sum ? test.far(y, 2e-6f) : test.differences(y)) == 0);
    };
    check("aten.mean.dim", [&](float* y) { sf::fold<sf::SumOf, true>::run(r, y, floats(x)); });
    check("aten.sum.dim_IntList", [&](float* y) { sf::fold<sf::SumOf>::run(r, y, floats(x)); });
    check("aten.amax.default", [&](float* y) { sf::extreme<true>::run(r, y, floats(x)); });
    check("aten.amin.default", [&](float* y) { sf::extreme<false>::run(r, y, floats(x)); });
    if (dims.size() != 1) continue;
    REQUIRE(test.run(reduction_ops, "aten.argmax.default", {x, dims[0], EValue(false)}) == ErrorCode::ok);
    std::vector<std::int64_t> at(static_cast<std::size_t>(test.outputs[0].tensor().numel()));
    sf::arg_extreme<true>::run(r, at.data(), floats(x));
    CHECK(std::equal(at.begin(), at.end(), test.outputs[0].tensor().as<std::int64_t>()));
  }
}

TEST_CASE("static running extremes: the last of equal ones, NaN prevails; sums of exponentials with infinities") {
  CHECK(check_running());
}
TEST_CASE("static reductions and scans of any type") { CHECK(check_folds()); }
TEST_CASE("static orders: equal elements stay in order, NaN is the greatest") { CHECK(check_orders()); }
