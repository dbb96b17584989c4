// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/reductions/layer_norm.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::layer_norm_ops;
using Numbers = KernelTest::Numbers;

TEST_CASE("portable: layer_norm over the last dimensions") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float64, {2, 2}, {1, 3, 5, 5});
  const EValue weight = test.tensor(ScalarType::float64, {2}, {2, 3});
  const EValue bias = test.tensor(ScalarType::float64, {2}, {10, 20});
  REQUIRE(test.run(layer_norm_ops, "aten.layer_norm.default",
                   {x, test.list({EValue(2)}), weight, bias, EValue(0.0001), EValue(true)}) == ErrorCode::ok);
  CHECK(KernelTest::near(test.values(), {8, 23, 10, 20}, 1e-3));
  REQUIRE(test.run(layer_norm_ops, "aten.layer_norm.default",
                   {x, test.list({EValue(2), EValue(2)}), EValue(), EValue(), EValue(0.0), EValue(true)}) ==
          ErrorCode::ok);
  CHECK(KernelTest::near(test.values(), {-1.508, -0.302, 0.905, 0.905}, 1e-3));
  CHECK(test.run(layer_norm_ops, "aten.layer_norm.default",
                 {x, test.list({EValue(3)}), EValue(), EValue(), EValue(0.0), EValue(true)}) != ErrorCode::ok);
}

TEST_CASE("portable: threads share layer_norm") {
  KernelTest test;
  Numbers values(11 * 37);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7919 % 1009) / 100;
  const EValue x = test.tensor(ScalarType::float32, {11, 37}, values);
  CHECK(test.is_same_on_threads(layer_norm_ops, "aten.layer_norm.default",
                                {x, test.list({EValue(37)}), EValue(), EValue(), EValue(1e-5), EValue(true)}));
}
