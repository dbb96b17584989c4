// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/half_rows.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/products/matmul.hpp"
#include "support/kernel_test.hpp"

using namespace davit;
using namespace davit::portable_kernels;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

namespace {

Numbers numbers(std::int64_t count, std::int64_t factor) {
  Numbers all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(static_cast<double>(i * factor % 17 - 8) / 32);
  return all;
}

}  // namespace

TEST_CASE("linear with weights of 16 bits: few rows, all sizes, with a bias and without") {
  for (const ScalarType type : {ScalarType::float16, ScalarType::bfloat16})
    for (const std::int64_t rows : {1, 2, 4, 5})
      for (const std::int64_t outputs : {1, 3, 4, 9})
        for (const std::int64_t depth : {1, 7, 16, 67})
          for (const bool has_bias : {false, true}) {
            CAPTURE(rows);
            CAPTURE(outputs);
            CAPTURE(depth);
            KernelTest test;
            const Numbers x = numbers(rows * depth, 13), w = numbers(outputs * depth, 5), b = numbers(outputs, 3);
            Numbers expected;
            for (std::int64_t r = 0; r < rows; ++r)
              for (std::int64_t n = 0; n < outputs; ++n) {
                double sum = has_bias ? b[static_cast<std::size_t>(n)] : 0;
                for (std::int64_t k = 0; k < depth; ++k)
                  sum += x[static_cast<std::size_t>(r * depth + k)] * w[static_cast<std::size_t>(n * depth + k)];
                expected.push_back(sum);
              }
            const EValue input = test.tensor(type, {rows, depth}, x), weight = test.tensor(type, {outputs, depth}, w);
            const EValue bias = has_bias ? test.tensor(type, {outputs}, b) : EValue{};
            REQUIRE(test.run(matmul_ops, "aten.linear.default", {input, weight, bias}) == ErrorCode::ok);
            CHECK(test.dtype() == type);
            CHECK(test.sizes() == Integers{rows, outputs});
            CHECK(KernelTest::near(test.values(), expected, type == ScalarType::float16 ? 1e-3 : 8e-3));
            CHECK(test.is_same_on_threads(matmul_ops, "aten.linear.default", {input, weight, bias}));
          }
}
TEST_CASE("takes_halves: contiguous weights of 16 bits, up to four rows, a bias per output") {
  KernelTest test;
  const auto takes = [&](const EValue& x, const EValue& w, const EValue* bias = nullptr) {
    return portable_kernels::detail::takes_halves(x.tensor(), w.tensor(), bias == nullptr ? nullptr : &bias->tensor());
  };
  constexpr auto f16 = ScalarType::float16, f32 = ScalarType::float32;
  const EValue w = test.tensor(f16, {3, 8}, {}), four = test.tensor(f16, {4, 8}, {}),
               five = test.tensor(f16, {5, 8}, {});
  CHECK(takes(four, w));
  CHECK_FALSE(takes(five, w));
  CHECK_FALSE(takes(test.tensor(f16, {0, 8}, {}), w));
  CHECK_FALSE(takes(four, test.view(w, {3, 4}, {8, 2})));
  CHECK_FALSE(takes(test.tensor(f32, {1, 8}, {}), test.tensor(f32, {3, 8}, {})));
  const EValue bias = test.tensor(f16, {3}, {}), row = test.tensor(f16, {1}, {});
  CHECK(takes(four, w, &bias));
  CHECK_FALSE(takes(four, w, &row));
}
