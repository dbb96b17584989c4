// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/reductions/group_norm.hpp"

#include <doctest/doctest.h>

#include <cstddef>

#include "support/kernel_test.hpp"

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::group_norm_ops;
using Numbers = KernelTest::Numbers;

TEST_CASE("portable: group norms, with the saved statistics") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float64, {1, 4, 2}, {1, 3, 5, 7, 2, 2, 2, 2});
  const EValue weight = test.tensor(ScalarType::float64, {4}, {1, 2, 3, 4}),
               bias = test.tensor(ScalarType::float64, {4}, {0, 0, 5, 6});
  REQUIRE(test.run(group_norm_ops, "aten.native_group_norm.default",
                   {x, weight, bias, EValue(1), EValue(4), EValue(2), EValue(2), EValue(0.0001)}, 3) == ErrorCode::ok);
  CHECK(KernelTest::near(test.values(), {-1.342, -0.447, 0.894, 2.683, 5, 5, 6, 6}, 1e-3));
  CHECK(test.values(1) == Numbers{4, 2});
  CHECK(KernelTest::near(test.values(2), {0.447, 100}, 1e-3));
}

TEST_CASE("portable: threads share group norms") {
  KernelTest test;
  Numbers values(2 * 12 * 37);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7919 % 1009) / 100;
  const EValue x = test.tensor(ScalarType::float32, {2, 12, 37}, values);
  CHECK(test.is_same_on_threads(group_norm_ops, "aten.native_group_norm.default",
                                {x, EValue(), EValue(), EValue(2), EValue(12), EValue(37), EValue(4), EValue(1e-5)}));
}
