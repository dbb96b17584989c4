// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/reductions/reductions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::reduction_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: min, max and sum of all elements") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 2}, {3, -1, 4, 1});
  CHECK(test.run(reduction_ops, "aten.min.default", {x}) == ErrorCode::ok);
  CHECK(test.sizes().empty());
  CHECK(test.values() == Numbers{-1});
  CHECK(test.run(reduction_ops, "aten.max.default", {x}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{4});
  CHECK(test.run(reduction_ops, "aten.sum.default", {x, EValue()}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{7});
  const EValue flags = test.tensor(ScalarType::bool_, {3}, {1, 0, 1});
  CHECK(test.run(reduction_ops, "aten.sum.default", {flags, EValue()}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::int64);
  CHECK(test.values() == Numbers{2});
  const EValue odd = test.tensor(ScalarType::float32, {2}, {1, std::numeric_limits<double>::quiet_NaN()});
  CHECK(test.run(reduction_ops, "aten.min.default", {odd}) == ErrorCode::ok);
  CHECK(std::isnan(test.values()[0]));
  const EValue empty = test.tensor(ScalarType::float32, {0}, {});
  CHECK(test.run(reduction_ops, "aten.min.default", {empty}) != ErrorCode::ok);
  CHECK(test.run(reduction_ops, "aten.sum.default", {empty, EValue()}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0});
}

TEST_CASE("portable: any and all of windows, of all widths of elements, and sums in any order of dimensions") {
  KernelTest test;
  Numbers numbers(90);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 11 == 0 || i % 17 < 2 ? 1 : 0;
  for (const ScalarType type : {ScalarType::bool_, ScalarType::int16, ScalarType::float32, ScalarType::int64}) {
    Numbers own = numbers;
    if (type == ScalarType::float32)
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = own[i] != 0 ? std::nan("") : i % 2 == 0 ? -0.0 : 0.0;
    const EValue x = test.tensor(type, {90}, own);
    for (const std::int64_t step : {1, 3}) {
      const std::int64_t windows = (90 - 4) / step + 1;
      const EValue view = test.view(x, {windows, 4}, {step, 1});
      REQUIRE(test.run(reduction_ops, "aten.any.dim", {view, EValue(1), EValue(false)}) == ErrorCode::ok);
      Numbers expected;
      for (std::int64_t i = 0; i < windows; ++i) {
        double found = 0;
        for (std::int64_t k = 0; k < 4; ++k) found = std::fmax(found, numbers[static_cast<std::size_t>(i * step + k)]);
        expected.push_back(found);
      }
      CHECK(test.values() == expected);
    }
  }
  const EValue x = test.tensor(ScalarType::float32, {90}, numbers);
  double sum = 0;
  for (const double v : numbers) sum += v;
  const EValue turned = test.view(x, {10, 9}, {1, 10});
  REQUIRE(test.run(reduction_ops, "aten.sum.default", {turned, EValue()}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{sum});
  REQUIRE(test.run(reduction_ops, "aten.max.default", {turned}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1});
}

TEST_CASE("portable: std takes the root before the variance is rounded, and returns the mean if requested") {
  KernelTest test;
  for (const double scale : {1e-25, 1.0, 1e20}) {
    const EValue x = test.tensor(ScalarType::float32, {2, 3}, {1 * scale, 2 * scale, 4 * scale, 0, 0, 0});
    const auto near = [&](double expected) {
      return std::fabs(test.values()[0] / scale - expected) < 1e-5 && test.values().back() == 0;
    };
    const EValue dims = test.list({EValue(1)});
    CHECK(test.run(reduction_ops, "aten.std.dim", {x, dims, EValue(true), EValue(false)}) == ErrorCode::ok);
    CHECK(near(1.527525));
    CHECK(test.run(reduction_ops, "aten.std.correction", {x, dims, EValue(0), EValue(true)}) == ErrorCode::ok);
    CHECK(test.sizes() == Integers{2, 1});
    CHECK(near(1.247219));
    CHECK(test.run(reduction_ops, "aten.std_mean.correction", {x, dims, EValue(), EValue(false)}, 2) == ErrorCode::ok);
    CHECK(near(1.527525));
    CHECK(test.values(1)[0] / scale == doctest::Approx(7.0 / 3));
    CHECK(test.run(reduction_ops, "aten.std.default", {test.view(x, {3}, {1}), EValue(true)}) == ErrorCode::ok);
    CHECK(test.values()[0] / scale == doctest::Approx(1.527525));
    CHECK(test.run(reduction_ops, "aten.std_mean.default", {test.view(x, {3}, {1}), EValue(false)}, 2) ==
          ErrorCode::ok);
    CHECK(test.values()[0] / scale == doctest::Approx(1.247219));
  }
}
