// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/binary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

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

TEST_CASE("portable: slopes below 0, of each channel") {
  KernelTest test;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Numbers numbers, expected;
  for (int i = 0; i < 40; ++i) {
    numbers.push_back(i - 20);
    expected.push_back(i > 20 ? i - 20 : (i - 20) * 0.25);
  }
  numbers.push_back(nan);
  expected.push_back(nan);
  for (const ScalarType type : {ScalarType::float32, ScalarType::float64}) {
    CHECK(test.run(elementwise_binary_ops, "aten._prelu_kernel.default",
                   {test.tensor(type, {41}, numbers), test.tensor(type, {1}, {0.25})}) == ErrorCode::ok);
    const Numbers made = test.values();
    CHECK(std::ranges::equal(std::span(made).first(40), std::span(expected).first(40)));
    CHECK(std::isnan(made[40]));
  }
  CHECK(test.run(elementwise_binary_ops, "aten._prelu_kernel.default",
                 {test.tensor(ScalarType::float32, {2, 2}, {-1, 2, -3, -4}),
                  test.tensor(ScalarType::float32, {2, 1}, {0.5, 2})}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{-0.5, 2, -6, -8});
}

TEST_CASE("portable: hypotenuses and signs of others") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2}, {3, -5});
  CHECK(test.run(elementwise_binary_ops, "aten.hypot.default", {x, test.tensor(ScalarType::float32, {2}, {4, 12})}) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{5, 13});
  CHECK(test.run(elementwise_binary_ops, "aten.copysign.Scalar",
                 {test.tensor(ScalarType::int64, {2}, {3, -5}), EValue(-0.0)}) == ErrorCode::ok);
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

TEST_CASE("portable: halves are multiplied with and divided by a number as it is, which is a half where it is added") {
  using davit::BFloat16;
  KernelTest test;
  Numbers x;
  for (int i = -40; i < 40; ++i) x.push_back(i * 0.0625 + 0.03125);
  const EValue halves = test.tensor(ScalarType::bfloat16, {80}, x);
  const EValue number = test.tensor(ScalarType::float32, {}, {0.3});
  const float exact = 0.3f, rounded = BFloat16(0.3f);
  const auto check = [&](std::string_view name, const EValue& first, const EValue& second, auto&& expected) {
    CAPTURE(name);
    REQUIRE(test.run(elementwise_binary_ops, name, {first, second}) == ErrorCode::ok);
    CHECK(test.dtype() == ScalarType::bfloat16);
    for (std::size_t i = 0; i < x.size(); ++i)
      CHECK(test.values()[i] == static_cast<double>(BFloat16(expected(static_cast<float>(x[i])))));
  };
  for (const EValue& by : {EValue(0.3), number}) {
    check("aten.mul.Tensor", halves, by, [&](float v) { return v * exact; });
    check("aten.div.Tensor", halves, by, [&](float v) { return v / exact; });
    check("aten.add.Tensor", halves, by, [&](float v) { return v + rounded; });
    check("aten.sub.Tensor", halves, by, [&](float v) { return v - rounded; });
  }
  check("aten.mul.Tensor", number, halves, [&](float v) { return v * rounded; });
}

TEST_CASE(
    "portable: alpha of sums in 16 bits is rounded to their dtype, products too but in 32 elements of a row at a "
    "time") {
  KernelTest test;
  for (const ScalarType type : {ScalarType::bfloat16, ScalarType::float16}) {
    Numbers a, b;
    for (int i = 0; i < 70; ++i)
      a.push_back(davit::rounded_to(type, 0.37 * i - 11)), b.push_back(davit::rounded_to(type, 91 - 2.3 * i));
    const double alpha = davit::rounded_to(type, 0.1);
    for (const bool minus : {false, true}) {
      CHECK(test.run(elementwise_binary_ops, minus ? "aten.sub.Tensor" : "aten.add.Tensor",
                     {test.tensor(type, {70}, a), test.tensor(type, {70}, b), EValue(0.1)}) == ErrorCode::ok);
      Numbers expected, exact;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double product = (minus ? -alpha : alpha) * b[i];
        expected.push_back(davit::rounded_to(type, a[i] + (i < 64 ? product : davit::rounded_to(type, product))));
        exact.push_back(davit::rounded_to(type, a[i] + (minus ? -0.1 : 0.1) * b[i]));
      }
      CHECK(test.values() == expected);
      CHECK(expected != exact);
      // rows of 35, a number per row
      const EValue wide = test.tensor(type, {2, 35}, a), column = test.tensor(type, {2, 1}, {b[1], b[2]});
      CHECK(test.run(elementwise_binary_ops, minus ? "aten.sub.Tensor" : "aten.add.Tensor",
                     {wide, column, EValue(0.1)}) == ErrorCode::ok);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double product = (minus ? -alpha : alpha) * b[1 + i / 35];
        CHECK(test.values()[i] ==
              davit::rounded_to(type, a[i] + (i % 35 < 32 ? product : davit::rounded_to(type, product))));
      }
      const EValue every_other = test.view(test.tensor(type, {70}, b), {35}, {2});  // as dense
      CHECK(test.run(elementwise_binary_ops, minus ? "aten.sub.Tensor" : "aten.add.Tensor",
                     {test.view(wide, {35}, {2}), every_other, EValue(0.1)}) == ErrorCode::ok);
      for (std::size_t i = 0; i < 35; ++i) {
        const double product = (minus ? -alpha : alpha) * b[2 * i];
        CHECK(test.values()[i] ==
              davit::rounded_to(type, a[2 * i] + (i < 32 ? product : davit::rounded_to(type, product))));
      }
    }
  }
}

TEST_CASE(
    "portable: clamp with NaN as its only bound returns its input; beside another bound, or in a tensor, NaN wins") {
  KernelTest test;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ScalarType type : {ScalarType::float32, ScalarType::float64, ScalarType::bfloat16}) {
    const EValue x = test.tensor(type, {3}, {1, -2, 7});
    for (const bool high : {false, true}) {
      CHECK(test.run(elementwise_binary_ops, "aten.clamp.default",
                     {x, high ? EValue() : EValue(nan), high ? EValue(nan) : EValue()}) == ErrorCode::ok);
      CHECK(test.values() == Numbers{1, -2, 7});
      CHECK(test.run(elementwise_binary_ops, "aten.clamp.default",
                     {x, high ? EValue(0.0) : EValue(nan), high ? EValue(nan) : EValue(0.0)}) == ErrorCode::ok);
      CHECK(std::ranges::all_of(test.values(), [](double v) { return std::isnan(v); }));
      const EValue bound = test.tensor(type, {1}, {nan});
      CHECK(test.run(elementwise_binary_ops, "aten.clamp.Tensor",
                     {x, high ? EValue() : bound, high ? bound : EValue()}) == ErrorCode::ok);
      CHECK(std::ranges::all_of(test.values(), [](double v) { return std::isnan(v); }));
    }
  }
  CHECK(test.run(elementwise_binary_ops, "aten.clamp.default",
                 {test.tensor(ScalarType::int32, {2}, {1, -5}), EValue(nan), EValue()}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::float32);
  CHECK(test.values() == Numbers{1, -5});
}
