// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/row_epilogue.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "davit/kernels/instruction_set.hpp"

using namespace davit;
using portable_kernels::FinishRows;
using portable_kernels::RowEpilogue;

TEST_CASE("rows get their factors and shifts, and are clamped") {
  const float factors[] = {2, -1, 3}, shifts[] = {1, 0, 2};
  const RowEpilogue epilogue{factors, shifts, 3, -5, 8};
  for (const std::int64_t width : {1, 7, 16, 37}) {
    CAPTURE(width);
    std::vector<float> c(static_cast<std::size_t>(2 * 40), 9.0f);
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t i = 0; i < width; ++i) c[static_cast<std::size_t>(r * 40 + i)] = static_cast<float>(i % 5 - 2);
    const RowEpilogue rest = epilogue.from(1);
    CHECK(rest.rows == 2);
    kernels::run_widest<FinishRows>(&rest, std::int64_t{2}, width, c.data(), std::int64_t{40});
    for (std::int64_t i = 0; i < 40; ++i) {
      const float x = static_cast<float>(i % 5 - 2);
      CHECK(c[static_cast<std::size_t>(i)] == (i < width ? -x : 9.0f));
      CHECK(c[static_cast<std::size_t>(40 + i)] == (i < width ? (x == 2           ? 8.0f
                                                                 : 3 * x + 2 < -5 ? -5.0f
                                                                                  : 3 * x + 2)
                                                              : 9.0f));
    }
  }
}

TEST_CASE("clamps alone keep numbers between the bounds, and NaN") {
  std::vector<float> c(20, -1.0f);
  c[3] = c[19] = std::numeric_limits<float>::quiet_NaN();
  c[4] = 7;
  const RowEpilogue relu{.low = 0};
  CHECK(relu.from(5).low == 0);
  CHECK_FALSE(relu.is_none());
  CHECK(RowEpilogue().is_none());
  kernels::run_widest<FinishRows>(&relu, std::int64_t{1}, std::int64_t{20}, c.data(), std::int64_t{20});
  CHECK((std::isnan(c[3]) && std::isnan(c[19])));
  CHECK((c[4] == 7 && c[0] == 0 && c[18] == 0));
}

TEST_CASE("bounds that are NaN or zero, and zeros of either sign, are those of hardtanh") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float numbers[] = {-infinity, -2, -0.0f, 0.0f, 1, 9, infinity, nan};
  const float bounds[] = {-infinity, -1, -0.0f, 0.0f, 6, infinity, nan};
  for (const float low : bounds)
    for (const float high : bounds)
      for (const std::int64_t width : {3, 8, 33}) {
        CAPTURE(low);
        CAPTURE(high);
        CAPTURE(width);
        std::vector<float> c;
        for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) c.push_back(numbers[i % 8]);
        const RowEpilogue epilogue{.low = low, .high = high};
        kernels::run_widest<FinishRows>(&epilogue, std::int64_t{1}, width, c.data(), width);
        for (std::size_t i = 0; i < c.size(); ++i) {
          const float wanted = kernels::Hardtanh<float>(low, high)(numbers[i % 8]);
          CHECK((std::isnan(wanted) ? std::isnan(c[i]) : c[i] == wanted && std::signbit(c[i]) == std::signbit(wanted)));
        }
      }
}
