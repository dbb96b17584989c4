// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/reductions/batch_norm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>

#include "support/kernel_test.hpp"

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using Numbers = KernelTest::Numbers;
using davit::portable_kernels::batch_norm_ops;

TEST_CASE(
    "portable: batch_norm of a constant channel without epsilon is its bias where it trains, and not a number "
    "elsewhere") {
  KernelTest test;
  for (const ScalarType type : {ScalarType::float32, ScalarType::float64}) {
    const EValue x = test.tensor(type, {2, 2, 2}, {3, 3, 1, 5, 3, 3, 5, 1});
    const EValue weight = test.tensor(type, {2}, {2, 2});
    const EValue bias = test.tensor(type, {2}, {7, 0});
    REQUIRE(test.run(batch_norm_ops, "aten.batch_norm.default",
                     {x, weight, bias, EValue(), EValue(), EValue(true), EValue(0.1), EValue(0.0), EValue(false)}) ==
            ErrorCode::ok);
    CHECK(KernelTest::near(test.values(), {7, 7, -2, 2, 7, 7, 2, -2}, 1e-6));
    const EValue mean = test.tensor(type, {2}, {3, 3});
    const EValue variance = test.tensor(type, {2}, {0, 4});
    REQUIRE(test.run(batch_norm_ops, "aten.batch_norm.default",
                     {x, weight, bias, mean, variance, EValue(false), EValue(0.1), EValue(0.0), EValue(false)}) ==
            ErrorCode::ok);
    CHECK(std::isnan(test.values()[0]));
    CHECK(test.values()[2] == -2);
  }
}

TEST_CASE("portable: threads share batch_norm") {
  KernelTest test;
  Numbers values(3 * 7 * 5);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7919 % 1009) / 100;
  const EValue x = test.tensor(ScalarType::float32, {3, 7, 5}, values);
  const EValue mean = test.tensor(ScalarType::float32, {7}, {1, 2, 3, 4, 5, 6, 7});
  const EValue variance = test.tensor(ScalarType::float32, {7}, {7, 6, 5, 4, 3, 2, 1});
  CHECK(test.is_same_on_threads(
      batch_norm_ops, "aten.batch_norm.default",
      {x, mean, variance, EValue(), EValue(), EValue(true), EValue(0.1), EValue(1e-5), EValue(false)}));
  CHECK(test.is_same_on_threads(
      batch_norm_ops, "aten.batch_norm.default",
      {x, EValue(), EValue(), mean, variance, EValue(false), EValue(0.1), EValue(1e-5), EValue(false)}));
}
