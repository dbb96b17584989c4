// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/joining.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::joining_ops;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: a tensor without dimensions is turned round in dimension 0 or -1") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {}, {2.5});
  for (const int dim : {0, -1}) {
    CHECK(test.run(joining_ops, "aten.flip.default", {x, test.list({EValue(dim)})}) == ErrorCode::ok);
    CHECK(test.values() == Numbers{2.5});
  }
  CHECK(test.run(joining_ops, "aten.flip.default", {x, test.list({EValue(1)})}) == ErrorCode::out_of_range);
}
