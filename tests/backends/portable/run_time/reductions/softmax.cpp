// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/reductions/softmax.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/kernel_test.hpp"

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::softmax_ops;
using Numbers = KernelTest::Numbers;

TEST_CASE("portable: softmax along any dimension; lines of -inf are NaN, or zeros where they are masked") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float64, {2, 2}, {0, std::log(3.0), -infinity, -infinity});
  REQUIRE(test.run(softmax_ops, "aten.softmax.int", {x, EValue(1), EValue()}) == ErrorCode::ok);
  CHECK(KernelTest::near({test.values()[0], test.values()[1]}, {0.25, 0.75}, 1e-15));
  CHECK((std::isnan(test.values()[2]) && std::isnan(test.values()[3])));
  REQUIRE(test.run(softmax_ops, "aten._safe_softmax.default", {x, EValue(1), EValue()}) == ErrorCode::ok);
  CHECK(Numbers{test.values()[2], test.values()[3]} == Numbers{0, 0});
  REQUIRE(test.run(softmax_ops, "aten.softmax.int", {x, EValue(0), EValue()}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 1, 0, 0});
  REQUIRE(test.run(softmax_ops, "aten.log_softmax.int", {x, EValue(-1), EValue()}) == ErrorCode::ok);
  CHECK(KernelTest::near({test.values()[0], test.values()[1]}, {std::log(0.25), std::log(0.75)}, 1e-15));
  CHECK(test.run(softmax_ops, "aten.softmax.int", {x, EValue(2), EValue()}) != ErrorCode::ok);
}

TEST_CASE("portable: threads share softmax") {
  KernelTest test;
  Numbers values(7 * 5 * 33);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7919 % 1009) / 100;
  const EValue x = test.tensor(ScalarType::float32, {7, 5, 33}, values);
  for (const int dim : {0, 1, 2})
    CHECK(test.is_same_on_threads(softmax_ops, "aten.softmax.int", {x, EValue(dim), EValue()}));
}
