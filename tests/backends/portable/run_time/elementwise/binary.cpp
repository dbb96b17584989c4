// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/binary.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::elementwise_binary_ops;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: shifts of integers, by more than their width too") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::int32, {4}, {1, -8, 3, 100});
  CHECK(test.run(elementwise_binary_ops, "aten.bitwise_left_shift.Tensor_Scalar", {x, EValue(3)}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::int32);
  CHECK(test.values() == Numbers{8, -64, 24, 800});
  CHECK(test.run(elementwise_binary_ops, "aten.__rshift__.Scalar", {x, EValue(1)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, -4, 1, 50});
  const EValue by = test.tensor(ScalarType::int32, {4}, {31, 40, 32, 2});
  CHECK(test.run(elementwise_binary_ops, "aten.bitwise_right_shift.Tensor", {x, by}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, -1, 0, 25});
  CHECK(test.run(elementwise_binary_ops, "aten.__lshift__.Tensor", {x, by}) == ErrorCode::ok);
  CHECK(test.values()[1] == 0);
  CHECK(test.values()[2] == 0);
  const EValue bools = test.tensor(ScalarType::bool_, {1}, {1});
  CHECK(test.run(elementwise_binary_ops, "aten.__lshift__.Tensor", {bools, bools}) == ErrorCode::invalid_dtype);
}

TEST_CASE("portable: hypotenuses and signs of others") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2}, {3, -5});
  CHECK(test.run(elementwise_binary_ops, "aten.hypot.default", {x, test.tensor(ScalarType::float32, {2}, {4, 12})}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{5, 13});
  CHECK(test.run(elementwise_binary_ops, "aten.copysign.Scalar", {test.tensor(ScalarType::int64, {2}, {3, -5}), EValue(-0.0)}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::float32);
  CHECK(test.values() == Numbers{-3, -5});
}

TEST_CASE("portable: a number that the tensor's integers cannot hold wraps before it is compared, as in PyTorch 2.6") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::int8, {3}, {44, -1, 5});
  CHECK(test.run(elementwise_binary_ops, "aten.eq.Scalar", {x, EValue(300)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 0, 0});
  CHECK(test.run(elementwise_binary_ops, "aten.lt.Scalar", {x, EValue(300)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 1});
  CHECK(test.run(elementwise_binary_ops, "aten.eq.Scalar", {x, EValue(255)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 0});
}
