// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/reductions/scans.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::scan_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("portable: products and sums of exponentials so far") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(test.run(scan_ops, "aten.cumprod.default", {x, EValue(1), EValue()}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 2, 6, 4, 20, 120});
  CHECK(test.run(scan_ops, "aten.cumprod.default", {test.view(x, {3, 2}, {1, 3}), EValue(-1), EValue()}) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 4, 2, 10, 3, 18});
  CHECK(test.run(scan_ops, "aten.cumprod.default",
                 {test.tensor(ScalarType::int8, {3}, {100, 2, 3}), EValue(0), EValue()}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::int64);
  CHECK(test.values() == Numbers{100, 200, 600});
  CHECK(test.run(scan_ops, "aten.cumprod.default", {x, EValue(2), EValue()}) == ErrorCode::out_of_range);

  const EValue y = test.tensor(ScalarType::float64, {5}, {-inf, 0, 0, not_a_number, 1});
  CHECK(test.run(scan_ops, "aten.logcumsumexp.default", {y, EValue(0)}) == ErrorCode::ok);
  const Numbers sums = test.values();
  CHECK(sums[0] == -inf);
  CHECK(sums[1] == 0);
  CHECK(sums[2] == doctest::Approx(std::log(2.0)));
  CHECK(std::isnan(sums[3]));
  CHECK(std::isnan(sums[4]));
  CHECK(test.run(scan_ops, "aten.logcumsumexp.default", {test.tensor(ScalarType::int64, {1}, {1}), EValue(0)}) ==
        ErrorCode::invalid_dtype);
}

TEST_CASE("portable: the largest and smallest so far, the last of equal ones; NaN stays") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {6}, {1, 3, 3, 2, not_a_number, 9});
  CHECK(test.run(scan_ops, "aten.cummax.default", {x, EValue(0)}, 2) == ErrorCode::ok);
  CHECK(test.values(1) == Numbers{0, 1, 2, 2, 4, 4});
  CHECK(test.values()[3] == 3);
  CHECK(std::isnan(test.values()[5]));
  CHECK(test.run(scan_ops, "aten.cummin.default", {test.tensor(ScalarType::bool_, {3}, {1, 0, 1}), EValue(-1)}, 2) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 0, 0});
  CHECK(test.values(1) == Numbers{0, 1, 1});
  CHECK(test.run(scan_ops, "aten.cummin.default", {test.tensor(ScalarType::int64, {}, {7}), EValue(0)}, 2) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{7});
  CHECK(test.run(scan_ops, "aten.cummin.default", {test.tensor(ScalarType::int64, {0, 2}, {}), EValue(0)}, 2) ==
        ErrorCode::ok);
}

TEST_CASE("portable: insertion points in an ascending line, before or behind equal elements") {
  KernelTest test;
  const EValue line = test.tensor(ScalarType::float32, {4}, {1, 2, 2, 5});
  const EValue values = test.tensor(ScalarType::float32, {2, 3}, {0, 2, 9, 1, 5, not_a_number});
  const auto search = [&](EValue sequence, EValue of, bool right, EValue sorter = {}) {
    return test.run(scan_ops, "aten.searchsorted.Tensor",
                    {sequence, of, EValue(false), EValue(right), EValue(), sorter});
  };
  CHECK(search(line, values, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 4, 0, 3, 4});
  CHECK(search(line, values, true) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 3, 4, 1, 4, 4});
  const EValue lines = test.tensor(ScalarType::float32, {2, 2}, {1, 3, 5, 7});
  CHECK(search(lines, values, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 2, 0, 0, 2});
  const EValue sorter = test.tensor(ScalarType::int64, {4}, {3, 0, 1, 2});
  CHECK(search(test.tensor(ScalarType::float32, {4}, {2, 2, 5, 1}), values, false, sorter) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 4, 0, 3, 4});
  CHECK(search(line, values, false, test.tensor(ScalarType::int64, {4}, {4, 4, 4, 4})) == ErrorCode::out_of_range);
  CHECK(test.run(scan_ops, "aten.bucketize.Tensor", {values, line, EValue(true), EValue(false)}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::int32);
  CHECK(test.run(scan_ops, "aten.bucketize.Scalar", {EValue(2), line, EValue(false), EValue(true)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{3});
}
