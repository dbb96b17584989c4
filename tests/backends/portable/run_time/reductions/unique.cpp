// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/reductions/unique.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::unique_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: the values that there are, where and how often") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::int32, {2, 3}, {5, 2, 5, 5, -1, 2});
  CHECK(test.run(unique_ops, "aten._unique2.default", {x, EValue(true), EValue(true), EValue(true)}, 3) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{-1, 2, 5});
  CHECK(test.sizes(1) == Integers{2, 3});
  CHECK(test.values(1) == Numbers{2, 1, 2, 2, 0, 1});
  CHECK(test.values(2) == Numbers{1, 2, 3});
  CHECK(test.run(unique_ops, "aten.unique_consecutive.default", {x, EValue(false), EValue(true), EValue()}, 3) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{5, 2, 5, -1, 2});
  CHECK(test.sizes(1) == Integers{0});
  CHECK(test.values(2) == Numbers{1, 1, 2, 1, 1});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(test.run(unique_ops, "aten._unique2.default",
                 {test.tensor(ScalarType::float32, {4}, {nan, 1, nan, 1}), EValue(true), EValue(false), EValue(false)},
                 3) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{3});
  CHECK(test.run(unique_ops, "aten._unique2.default",
                 {test.tensor(ScalarType::float32, {0}, {}), EValue(true), EValue(true), EValue(true)},
                 3) == ErrorCode::ok);
  CHECK(test.sizes(2) == Integers{0});
}

TEST_CASE("portable: places of triangles") {
  KernelTest test;
  const EValue type;
  CHECK(test.run(unique_ops, "aten.tril_indices.default", {EValue(2), EValue(3), EValue(0), type, type, type, type}) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 1, 0, 0, 1});
  CHECK(test.run(unique_ops, "aten.triu_indices.default", {EValue(2), EValue(3), EValue(1), type, type, type, type}) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 0, 1, 1, 2, 2});
  CHECK(test.run(unique_ops, "aten.tril_indices.default",
                 {EValue(2), EValue(3), EValue(INT64_MIN), type, type, type, type}) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{2, 0});
  CHECK(test.run(unique_ops, "aten.tril_indices.default", {EValue(-1), EValue(3), EValue(0), type, type, type, type}) ==
        ErrorCode::invalid_argument);
}

TEST_CASE("portable: indices repeated as often as a tensor says") {
  KernelTest test;
  CHECK(test.run(unique_ops, "aten.repeat_interleave.Tensor",
                 {test.tensor(ScalarType::int64, {4}, {2, 0, 1, 3}), EValue()}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 0, 2, 3, 3, 3});
  CHECK(test.run(unique_ops, "aten.repeat_interleave.Tensor",
                 {test.tensor(ScalarType::int64, {2}, {2, -1}), EValue()}) == ErrorCode::invalid_argument);
}
