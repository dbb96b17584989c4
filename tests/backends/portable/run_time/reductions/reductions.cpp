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
