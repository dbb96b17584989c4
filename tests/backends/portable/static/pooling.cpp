// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/pooling.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "davit/backend/step_writer.hpp"
#include "davit/backends/portable/run_time/windows/adaptive_avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/max_pool.hpp"
#include "support/static_kernels_test.hpp"

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;
using davit::EValue;
using davit::portable_kernels::adaptive_avg_pool_ops;
using davit::portable_kernels::avg_pool_ops;
using davit::portable_kernels::max_pool_ops;

/// Windows over two dimensions.
struct Pool2d {
  std::int32_t planes = 1, in_h = 1, in_w = 1, out_h = 1, out_w = 1;
  std::int32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1;
  std::int32_t pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
  std::int32_t count_include_pad = 1, divisor = 0;

  constexpr operator sf::Pool<2>() const {
    return {planes,
            {{in_h, in_w},
             {out_h, out_w},
             {kernel_h, kernel_w},
             {stride_h, stride_w},
             {pad_h, pad_w},
             {dilation_h, dilation_w}},
            count_include_pad,
            divisor};
  }
};

struct PoolTest : StaticFloatTest {
  EValue x;
  ErrorCode max_pool(const Pool2d& p, bool ceil_mode) {
    return run(max_pool_ops, "aten.max_pool2d.default",
               {x, list({EValue(p.kernel_h), EValue(p.kernel_w)}), list({EValue(p.stride_h), EValue(p.stride_w)}),
                list({EValue(p.pad_h), EValue(p.pad_w)}), list({EValue(p.dilation_h), EValue(p.dilation_w)}),
                EValue(ceil_mode)});
  }
  ErrorCode avg_pool(const Pool2d& p, bool ceil_mode) {
    return run(avg_pool_ops, "aten.avg_pool2d.default",
               {x, list({EValue(p.kernel_h), EValue(p.kernel_w)}), list({EValue(p.stride_h), EValue(p.stride_w)}),
                list({EValue(p.pad_h), EValue(p.pad_w)}), EValue(ceil_mode), EValue(p.count_include_pad != 0),
                p.divisor == 0 ? EValue() : EValue(p.divisor)});
  }
  void take_outputs(Pool2d& p) const {
    p.out_h = static_cast<std::int32_t>(sizes()[1]);
    p.out_w = static_cast<std::int32_t>(sizes()[2]);
  }
  Pool2d random_pool() {
    Pool2d p{.planes = pick(1, 4), .in_h = pick(2, 12), .in_w = pick(2, 40)};
    p.kernel_h = pick(1, 3);
    p.kernel_w = pick(0, 1) == 0 ? 2 : pick(1, 4);
    p.stride_h = pick(1, 3);
    p.stride_w = pick(0, 1) == 0 ? 2 : pick(1, 3);
    p.pad_h = pick(0, p.kernel_h / 2);
    p.pad_w = pick(0, p.kernel_w / 2);
    return p;
  }
};

template <Pool2d P>
void check_constant() {
  PoolTest test;
  test.x = test.random_tensor({P.planes, P.in_h, P.in_w});
  for (std::int32_t i = 0; i < 9; ++i)  // signs of zero and NaNs
    floats_of(test.x)[test.pick(0, P.planes * P.in_h * P.in_w - 1)] = i % 3 == 0   ? -0.0f
                                                                      : i % 3 == 1 ? 0.0f
                                                                                   : __builtin_nanf("");
  REQUIRE(test.max_pool(P, false) == ErrorCode::ok);
  std::vector<float> y = test.room();
  sf::max_pool<2>::run(davit::Constant<sf::Pool<2>(P)>{}, y.data(), floats(test.x));
  CHECK(test.differences(y) == 0);
  sf::max_pool<2>::run(sf::Pool<2>(P), y.data(), floats(test.x));
  CHECK(test.differences(y) == 0);
}

constexpr bool check_in_constant_evaluation() {
  const std::array<float, 8> x{1, 5, 3, 2, 4, -1, 7, 0};
  std::array<float, 2> y{};
  const Pool2d p{.in_h = 2, .in_w = 4, .out_w = 2, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  sf::max_pool<2>::run(sf::Pool<2>(p), y.data(), x.data());
  if (y != std::array<float, 2>{5, 7}) return false;
  sf::avg_pool<2>::run(sf::Pool<2>(p), y.data(), x.data());
  if (y != std::array<float, 2>{2.25f, 3}) return false;
  sf::adaptive_avg_pool2d::run(sf::adaptive_avg_pool2d::Params{1, 2, 4, 1, 2}, y.data(), x.data());
  return y == std::array<float, 2>{2.25f, 3};
}
static_assert(check_in_constant_evaluation());

constexpr bool check_any_type() {
  const std::array<double, 5> x{1, 5, 2, 0, 3};
  sf::Pool<3> p;
  p.windows.in = {1, 1, 5};
  p.windows.out = {1, 1, 3};
  p.windows.kernel = {1, 1, 2};
  p.windows.stride = {1, 1, 2};
  p.windows.padding = {0, 0, 1};
  std::array<double, 3> y{}, z{};
  std::array<std::int64_t, 3> places{};
  sf::max_pool_places<3>::run(p, y.data(), places.data(), x.data());
  if (y != std::array<double, 3>{1, 5, 3} || places != std::array<std::int64_t, 3>{0, 1, 4}) return false;
  sf::max_pool<3>::run(p, z.data(), x.data());
  if (y != z) return false;
  auto odd = x;
  odd[1] = odd[2] = std::numeric_limits<double>::quiet_NaN();  // the last NaN wins
  sf::max_pool_places<3>::run(p, y.data(), places.data(), odd.data());
  if (places != std::array<std::int64_t, 3>{0, 2, 4}) return false;
  sf::avg_pool<3>::run(p, y.data(), x.data());
  if (y != std::array<double, 3>{0.5, 3.5, 1.5}) return false;
  const std::array<std::int8_t, 8> cube{-8, -7, -6, -5, -4, -3, -2, -9};
  std::array<std::int8_t, 1> largest{};
  sf::Pool<3> whole;
  whole.windows.in = whole.windows.kernel = {2, 2, 2};
  sf::max_pool<3>::run(whole, largest.data(), cube.data());
  return largest[0] == -2;
}
static_assert(check_any_type());

}  // namespace

TEST_CASE("static pooling of any type, over one and three dimensions") { CHECK(check_any_type()); }

TEST_CASE("static pooling: small ones, also in constant evaluation") { CHECK(check_in_constant_evaluation()); }

TEST_CASE("static max_pool2d and avg_pool2d: the bits of portable's, random shapes") {
  PoolTest test;
  for (int i = 0; i < 300; ++i) {
    Pool2d p = test.random_pool();
    const bool ceil_mode = test.pick(0, 2) == 0;
    test.x = test.random_tensor({p.planes, p.in_h, p.in_w});
    CAPTURE(i);
    p.dilation_h = test.pick(1, 2);
    p.dilation_w = test.pick(0, 2) == 0 ? 2 : 1;
    if (test.max_pool(p, ceil_mode) == ErrorCode::ok) {
      test.take_outputs(p);
      std::vector<float> y = test.room();
      sf::max_pool<2>::run(sf::Pool<2>(p), y.data(), floats(test.x));
      CHECK(test.differences(y) == 0);
    }
    p.dilation_h = p.dilation_w = 1;
    p.count_include_pad = test.pick(0, 1);
    p.divisor = test.pick(0, 3) == 0 ? test.pick(1, 9) : 0;
    if (test.avg_pool(p, ceil_mode) == ErrorCode::ok) {
      test.take_outputs(p);
      std::vector<float> y = test.room();
      sf::avg_pool<2>::run(sf::Pool<2>(p), y.data(), floats(test.x));
      CHECK(test.differences(y) == 0);
    }
  }
}

TEST_CASE("static max_pool2d: the bits of portable's, constant shapes, with NaN and signed zeros") {
  check_constant<{.planes = 8,
                  .in_h = 8,
                  .in_w = 8,
                  .out_h = 4,
                  .out_w = 4,
                  .kernel_h = 2,
                  .kernel_w = 2,
                  .stride_h = 2,
                  .stride_w = 2}>();
  check_constant<{.planes = 3,
                  .in_h = 4,
                  .in_w = 4,
                  .out_h = 2,
                  .out_w = 2,
                  .kernel_h = 2,
                  .kernel_w = 2,
                  .stride_h = 2,
                  .stride_w = 2}>();
  check_constant<{.planes = 2,
                  .in_h = 5,
                  .in_w = 41,
                  .out_h = 2,
                  .out_w = 20,
                  .kernel_h = 2,
                  .kernel_w = 2,
                  .stride_h = 2,
                  .stride_w = 2}>();
  check_constant<{.planes = 2,
                  .in_h = 7,
                  .in_w = 9,
                  .out_h = 4,
                  .out_w = 5,
                  .kernel_h = 3,
                  .kernel_w = 3,
                  .stride_h = 2,
                  .stride_w = 2,
                  .pad_h = 1,
                  .pad_w = 1}>();
}

TEST_CASE("static adaptive_avg_pool2d: the bits of portable's") {
  PoolTest test;
  for (int i = 0; i < 100; ++i) {
    const sf::adaptive_avg_pool2d::Params p{.planes = test.pick(1, 4),
                                            .in_h = test.pick(1, 12),
                                            .in_w = test.pick(1, 12),
                                            .out_h = test.pick(1, 7),
                                            .out_w = test.pick(1, 7)};
    test.x = test.random_tensor({p.planes, p.in_h, p.in_w});
    REQUIRE(test.run(adaptive_avg_pool_ops, "aten.adaptive_avg_pool2d.default",
                     {test.x, test.list({EValue(p.out_h), EValue(p.out_w)})}) == ErrorCode::ok);
    std::vector<float> y = test.room();
    sf::adaptive_avg_pool2d::run(p, y.data(), floats(test.x));
    CHECK(test.differences(y) == 0);
  }
}
