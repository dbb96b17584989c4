// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/reductions/reductions.hpp"

#include <doctest/doctest.h>

#include <cmath>
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

TEST_CASE("portable: std takes the root before the variance is rounded, with the mean where it is asked for") {
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
