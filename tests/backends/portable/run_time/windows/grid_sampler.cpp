// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/windows/grid_sampler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "davit/kernels/thread_team.hpp"
#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::grid_sampler_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

constexpr int bilinear = 0, nearest = 1, bicubic = 2, zeros = 0, border = 1;

ErrorCode sample(KernelTest& test, EValue input, EValue grid, int mode, int padding,
                 const char* name = "aten.grid_sampler_2d.default", bool align_corners = true) {
  return test.run(grid_sampler_ops, name, {input, grid, EValue(mode), EValue(padding), EValue(align_corners)});
}

}  // namespace

TEST_CASE("portable: elements outside are 0, and not read, whatever the corner holds") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {1, 1, 2, 2}, {std::numeric_limits<double>::infinity(), 2, 3, 4});
  const EValue grid = test.tensor(ScalarType::float32, {1, 1, 3, 2}, {1, 1, -5, 0, 1, 0});
  CHECK(sample(test, x, grid, bilinear, zeros) == ErrorCode::ok);
  CHECK(test.values() == Numbers{4, 0, 3});
  CHECK(sample(test, x, grid, nearest, zeros) == ErrorCode::ok);
  CHECK(test.values() == Numbers{4, 0, 2});
  const EValue y = test.tensor(ScalarType::float32, {1, 1, 2, 2}, {1, 2, 3, 4});
  CHECK(sample(test, y, grid, bilinear, border) == ErrorCode::ok);
  CHECK(test.values() == Numbers{4, 2, 3});
}

TEST_CASE("portable: more points than are sampled at once, of images and volumes, alone and by threads") {
  KernelTest test;
  const std::int64_t n = 2, channels = 3, size = 5, points = 150;
  Numbers numbers(static_cast<std::size_t>(n * channels * size * size * size)),
      places(static_cast<std::size_t>(n * points * 3));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i * 37 % 101);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i * 53 % 199) / 90 - 1.1;
  davit::kernels::ThreadTeam team(3, 1);
  const auto check = [&](const char* name, const Integers& sizes, const Integers& grid_sizes, int mode) {
    CAPTURE(name);
    CAPTURE(mode);
    std::size_t count = 1, grid_count = 1;
    for (const std::int64_t s : sizes) count *= static_cast<std::size_t>(s);
    for (const std::int64_t s : grid_sizes) grid_count *= static_cast<std::size_t>(s);
    const EValue x = test.tensor(ScalarType::float32, sizes,
                                 Numbers(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count)));
    const EValue grid = test.tensor(ScalarType::float32, grid_sizes,
                                    Numbers(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(grid_count)));
    REQUIRE(sample(test, x, grid, mode, zeros, name) == ErrorCode::ok);
    const Numbers alone = test.values();
    {
      const davit::kernels::TeamScope scope(&team);
      REQUIRE(sample(test, x, grid, mode, zeros, name) == ErrorCode::ok);
    }
    CHECK(test.values() == alone);
    if (mode == nearest) {  // each is an element of its image and channel, or 0
      const std::size_t plane = count / static_cast<std::size_t>(n * channels), own = static_cast<std::size_t>(points);
      bool known = true;
      for (std::size_t i = 0; i < alone.size(); ++i) {
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(i / own * plane);
        known = known && (alone[i] == 0 || std::find(first, first + static_cast<std::ptrdiff_t>(plane), alone[i]) !=
                                               first + static_cast<std::ptrdiff_t>(plane));
      }
      CHECK(known);
    }
  };
  for (const int mode : {bilinear, nearest, bicubic})
    check("aten.grid_sampler_2d.default", {n, channels, size, size}, {n, 10, 15, 2}, mode);
  for (const int mode : {bilinear, nearest})
    check("aten.grid_sampler_3d.default", {n, channels, size, size, size}, {n, 5, 3, 10, 3}, mode);
}

TEST_CASE("portable: vectors of float32 coordinates equal float64 one by one, also outside and for NaN") {
  KernelTest test;
  Numbers numbers(420), places(6 * 37);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i * 37 % 101);
  // in sixteenths, so that float32's rounding decides nothing
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i * 53 % 81) / 16 - 2.53125;
  places[3] = 1e6;
  places[8] = -0.0;
  const auto check = [&](const char* name, Integers sizes, Integers grid_sizes, std::initializer_list<int> modes) {
    for (const double strange : {0.5, std::numeric_limits<double>::infinity(), std::nan("")}) {
      places[5] = strange;
      for (const int mode : modes)
        for (const int padding : {0, 1, 2})
          for (const bool align : {false, true}) {
            Numbers results[2];
            for (const bool wide : {false, true}) {
              const ScalarType type = wide ? ScalarType::float64 : ScalarType::float32;
              REQUIRE(sample(test, test.tensor(type, sizes, numbers), test.tensor(type, grid_sizes, places), mode,
                             padding, name, align) == ErrorCode::ok);
              results[wide] = test.values();
            }
            CAPTURE(mode);
            CAPTURE(padding);
            CAPTURE(align);
            CAPTURE(strange);
            REQUIRE(results[0].size() == results[1].size());
            for (std::size_t i = 0; i < results[0].size(); ++i) {
              CAPTURE(i);
              CHECK((std::isnan(results[1][i]) ? std::isnan(results[0][i])
                                               : results[0][i] == doctest::Approx(results[1][i]).epsilon(1e-4)));
            }
          }
    }
  };
  check("aten.grid_sampler_2d.default", {1, 5, 6, 14}, {1, 111, 1, 2}, {bilinear, nearest, bicubic});
  check("aten.grid_sampler_2d.default", {1, 420, 1, 1}, {1, 3, 37, 2}, {bilinear, nearest, bicubic});
  check("aten.grid_sampler_3d.default", {1, 3, 4, 5, 7}, {1, 2, 37, 1, 3}, {bilinear, nearest});
}

TEST_CASE("portable: grids that do not fit are refused") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {1, 1, 2, 2}, {1, 2, 3, 4});
  CHECK(sample(test, x, test.tensor(ScalarType::float32, {1, 1, 1, 3}, {0, 0, 0}), bilinear, zeros) ==
        ErrorCode::invalid_shape);
  CHECK(sample(test, x, test.tensor(ScalarType::float32, {2, 1, 1, 2}, {0, 0, 0, 0}), bilinear, zeros) ==
        ErrorCode::invalid_shape);
  CHECK(sample(test, test.tensor(ScalarType::float32, {1, 1, 0, 2}, {}),
               test.tensor(ScalarType::float32, {1, 1, 1, 2}, {0, 0}), bilinear, zeros) == ErrorCode::invalid_shape);
  CHECK(sample(test, x, test.tensor(ScalarType::float64, {1, 1, 1, 2}, {0, 0}), bilinear, zeros) ==
        ErrorCode::invalid_dtype);
  CHECK(sample(test, x, test.tensor(ScalarType::float32, {1, 1, 1, 2}, {0, 0}), 3, zeros) == ErrorCode::out_of_range);
  const EValue volume = test.tensor(ScalarType::float32, {1, 1, 1, 1, 1}, {7}),
               point = test.tensor(ScalarType::float32, {1, 1, 1, 1, 3}, {0, 0, 0});
  CHECK(sample(test, volume, point, bicubic, zeros, "aten.grid_sampler_3d.default") == ErrorCode::out_of_range);
}
