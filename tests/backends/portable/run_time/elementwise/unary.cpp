// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/unary.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::elementwise_unary_ops;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: hardtanh's bounds are rounded to the tensor's integers, and must be numbers") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::int8, {3}, {-9, 1, 9});
  CHECK(test.run(elementwise_unary_ops, "aten.hardtanh.default", {x, EValue(-2.5), EValue(3.5)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{-2, 1, 3});
  CHECK(test.run(elementwise_unary_ops, "aten.hardtanh.default", {x, x, EValue(3)}) == ErrorCode::invalid_argument);
  CHECK(test.run(elementwise_unary_ops, "aten.hardtanh.default", {x, EValue(0), EValue()}) ==
        ErrorCode::invalid_argument);
}
