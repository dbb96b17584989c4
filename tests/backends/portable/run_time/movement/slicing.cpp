// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/slicing.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::slicing_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: chunk gets the number of parts, split their length; the last one may be shorter") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::int64, {5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(test.run(slicing_ops, "aten.chunk.default", {x, EValue(3), EValue(0)}, 3) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{2, 2});
  CHECK(test.values(2) == Numbers{8, 9});
  CHECK(test.run(slicing_ops, "aten.split.Tensor", {x, EValue(3), EValue(-2)}, 2) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{3, 2});
  CHECK(test.values(1) == Numbers{6, 7, 8, 9});
  CHECK(test.outputs[1].tensor().data == x.tensor().as<std::int64_t>() + 6);
  CHECK(test.run(slicing_ops, "aten.split.Tensor", {x, EValue(0), EValue(0)}, 1) == ErrorCode::invalid_argument);
  CHECK(test.run(slicing_ops, "aten.chunk.default", {x, EValue(2), EValue(2)}, 2) != ErrorCode::ok);
}

TEST_CASE("portable: unbind splits a dimension into views") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(test.run(slicing_ops, "aten.unbind.int", {x, EValue(1)}, 3) == ErrorCode::ok);
  CHECK(test.sizes(2) == Integers{2});
  CHECK(test.values(2) == Numbers{2, 5});
  CHECK(test.outputs[1].tensor().data == x.tensor().as<float>() + 1);
  CHECK(test.run(slicing_ops, "aten.unbind.int", {x, EValue(-2)}, 2) == ErrorCode::ok);
  CHECK(test.values(1) == Numbers{3, 4, 5});
  CHECK(test.run(slicing_ops, "aten.unbind.int", {x, EValue(0)}, 3) == ErrorCode::invalid_shape);
  CHECK(test.run(slicing_ops, "aten.unbind.int", {x, EValue(2)}, 1) != ErrorCode::ok);
}
