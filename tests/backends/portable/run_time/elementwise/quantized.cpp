// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/quantized.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/kernel_test.hpp"

using namespace davit;
using namespace davit::portable_kernels;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

TEST_CASE("choose_qparams: the range of all elements, in any layout") {
  KernelTest test;
  Numbers x;
  for (int i = 0; i < 40; ++i) x.push_back(i * 0.25 - 2);
  const EValue all = test.tensor(ScalarType::float32, {5, 8}, x);
  const auto int8 = static_cast<std::int64_t>(ScalarType::int8);
  for (const EValue& each : {all, test.view(all, {8, 5}, {1, 8})}) {
    REQUIRE(test.run(quantized_ops, "quantized_decomposed.choose_qparams.tensor", {each, -128, 127, 1e-6, int8}, 2) ==
            ErrorCode::ok);
    CHECK(test.values(0)[0] == doctest::Approx(9.75 / 255));
    CHECK(test.values(1)[0] == -76);
  }
  x[17] = NAN;
  CHECK(test.run(quantized_ops, "quantized_decomposed.choose_qparams.tensor",
                 {test.tensor(ScalarType::float32, {40}, x), -128, 127, 1e-6, int8}, 2) == ErrorCode::invalid_argument);
}
TEST_CASE(
    "quantize_rows: a scale and a zero point per row or for all, in any layout, and before or behind the rounding") {
  KernelTest test;
  const Numbers x{0.5, 1.5, -2.5, 100, 0.5, 1.5, -2.5, -1e6};
  const EValue input = test.tensor(ScalarType::float32, {2, 4}, x);
  const EValue scales = test.tensor(ScalarType::float64, {2, 1}, {1, 0.5}),
               zeros = test.tensor(ScalarType::int64, {2, 1}, {1, -1}), one = test.tensor(ScalarType::int32, {1}, {3});
  const auto run = [&](const EValue& in, const EValue& s, const EValue& z, ScalarType type, bool rounds_first) {
    return test.run(quantized_ops, "davit.quantize_rows.default",
                    {in, s, z, type == ScalarType::int8 ? -50 : 2, 50, static_cast<std::int64_t>(type), rounds_first});
  };
  REQUIRE(run(input, scales, zeros, ScalarType::int8, true) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::int8);
  CHECK(test.values() == Numbers{1, 3, -1, 50, 0, 2, -6, -50});
  REQUIRE(run(input, scales, zeros, ScalarType::int8, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{2, 2, -2, 50, 0, 2, -6, -50});
  REQUIRE(run(test.view(input, {4, 2}, {1, 4}), test.tensor(ScalarType::float32, {}, {1}), one, ScalarType::uint8,
              true) == ErrorCode::ok);
  CHECK(test.values() == Numbers{3, 3, 5, 5, 2, 2, 50, 2});
  REQUIRE(run(test.tensor(ScalarType::float32, {0, 4}, {}), scales, zeros, ScalarType::int8, true) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{0, 4});
  CHECK(run(input, test.tensor(ScalarType::float32, {3}, {}), zeros, ScalarType::int8, true) ==
        ErrorCode::invalid_shape);
  CHECK(run(input, scales, test.tensor(ScalarType::int64, {4}, {}), ScalarType::int8, true) ==
        ErrorCode::invalid_shape);
  CHECK(run(test.tensor(ScalarType::float32, {}, {1}), one, one, ScalarType::int8, true) == ErrorCode::invalid_shape);
  CHECK(run(test.tensor(ScalarType::float64, {2, 4}, x), scales, zeros, ScalarType::int8, true) ==
        ErrorCode::invalid_dtype);
  CHECK(run(input, scales, zeros, ScalarType::int32, true) == ErrorCode::invalid_dtype);
  CHECK(test.run(quantized_ops, "davit.quantize_rows.default",
                 {input, scales, zeros, 5, 4, static_cast<std::int64_t>(ScalarType::int8), true}) ==
        ErrorCode::invalid_argument);
}
