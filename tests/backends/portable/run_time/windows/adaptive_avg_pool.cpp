// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/windows/adaptive_avg_pool.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::adaptive_avg_pool_ops;
using Integers = KernelTest::Integers;

}  // namespace

TEST_CASE("portable: adaptive averages of no channels, and of whole planes that are empty, as torch's means") {
  KernelTest test;
  const EValue one = test.list({EValue(1), EValue(1)}), some = test.list({EValue(2), EValue(3)});
  for (const EValue& size : {one, some}) {
    CHECK(test.run(adaptive_avg_pool_ops, "aten.adaptive_avg_pool2d.default",
                   {test.tensor(ScalarType::float32, {2, 0, 4, 4}, {}), size}) == ErrorCode::ok);
    CHECK(test.values().empty());
  }
  const EValue empty = test.tensor(ScalarType::float32, {1, 1, 0, 4}, {});
  CHECK(test.run(adaptive_avg_pool_ops, "aten.adaptive_avg_pool2d.default", {empty, one}) == ErrorCode::ok);
  CHECK(std::isnan(test.values()[0]));
  CHECK(test.run(adaptive_avg_pool_ops, "aten.adaptive_avg_pool2d.default", {empty, some}) == ErrorCode::invalid_shape);
  const EValue volume = test.tensor(ScalarType::float32, {2, 0, 2, 2, 2}, {});
  CHECK(test.run(adaptive_avg_pool_ops, "aten._adaptive_avg_pool3d.default",
                 {volume, test.list({EValue(1), EValue(1), EValue(1)})}) == ErrorCode::ok);
  CHECK(test.run(adaptive_avg_pool_ops, "aten._adaptive_avg_pool3d.default",
                 {volume, test.list({EValue(2), EValue(1), EValue(1)})}) == ErrorCode::invalid_shape);
}
