// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/attention.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/kernel_test.hpp"

// As PyTorch 2.6: a mask adds -infinity to a score, and a NaN stays; its flash kernel, for four dimensions, skips
// causally masked keys.
TEST_CASE("portable: a masked score that is NaN") {
  using davit::ErrorCode;
  using davit::EValue;
  using davit::ScalarType;
  using Numbers = KernelTest::Numbers;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  KernelTest test;
  const auto attend = [&](EValue q, EValue k, EValue v, EValue mask, bool causal) {
    REQUIRE(test.run(davit::portable_kernels::attention_ops, "aten.scaled_dot_product_attention.default",
                     {q, k, v, mask, EValue(0.0), EValue(causal), EValue(), EValue(false)}) == ErrorCode::ok);
    Numbers are_nan = test.values();
    for (double& each : are_nan) each = std::isnan(each) ? 1 : 0;
    return are_nan;
  };
  const auto floats = [&](const KernelTest::Integers& sizes, const Numbers& values) {
    return test.tensor(ScalarType::float32, sizes, values);
  };
  const EValue q = floats({1, 2, 1}, {1, 1});
  const EValue k = floats({1, 2, 1}, {1, nan});
  const EValue q4 = floats({1, 1, 2, 1}, {1, 1});
  const EValue k4 = floats({1, 1, 2, 1}, {1, nan});
  CHECK(attend(q, k, q, EValue(), true) == Numbers{1, 1});
  CHECK(attend(q4, k4, q4, EValue(), true) == Numbers{0, 1});
  const EValue taken = test.tensor(ScalarType::bool_, {2, 2}, {1, 0, 1, 1});
  CHECK(attend(q, k, q, taken, false) == Numbers{1, 1});
  CHECK(attend(q4, k4, q4, taken, false) == Numbers{1, 1});
  CHECK(attend(q, q, k, EValue(), true) == Numbers{1, 1});  // 0 times NaN
  CHECK(attend(q, q, q, taken, false) == Numbers{0, 0});
}

TEST_CASE("portable: attention reads no keys of a KV cache outside those that the mask keeps") {
  using davit::EValue;
  using davit::ScalarType;
  using Numbers = KernelTest::Numbers;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  constexpr double lowest = std::numeric_limits<float>::lowest();
  KernelTest test;
  // 64 keys, all 0, of which 17 to 19 are kept; their values are 1, 2, 3, and outside of keys 16 to 31 all are NaN
  const auto attend = [&](std::int64_t queries, double hidden, bool reads_state, bool has_empty_row = false) {
    const bool adds = hidden != 0;
    Numbers mask(static_cast<std::size_t>(64 * queries), hidden), values(64, nan);
    for (std::size_t j = 16; j < 32; ++j) values[j] = static_cast<double>(j) - 16;
    for (std::int64_t r = has_empty_row ? 1 : 0; r < queries; ++r)
      for (std::size_t j = 17; j < 20; ++j) mask[static_cast<std::size_t>(64 * r) + j] = adds ? 0 : 1;
    test.reads_state = reads_state;
    const EValue q = test.tensor(ScalarType::float32, {1, queries, 1}, Numbers(static_cast<std::size_t>(queries), 1));
    const EValue k = test.tensor(ScalarType::float32, {1, 64, 1}, Numbers(64, 0));
    const EValue v = test.tensor(ScalarType::float32, {1, 64, 1}, values);
    const EValue m = test.tensor(adds ? ScalarType::float32 : ScalarType::bool_, {queries, 64}, mask);
    REQUIRE(test.run(davit::portable_kernels::attention_ops, "aten.scaled_dot_product_attention.default",
                     {q, k, v, m, EValue(0.0), EValue(false), EValue(), EValue(false)}) == davit::ErrorCode::ok);
    return test.values().back();
  };
  for (const double hidden : {0.0, -infinity, lowest})
    for (const std::int64_t queries : {1, 3, 70}) {
      CHECK(attend(queries, hidden, true) == doctest::Approx(2));
      CHECK(std::isnan(attend(queries, hidden, false)));
    }
  CHECK(std::isnan(attend(2, lowest, true, true)));  // the first query has no key: all of them count the same
}

TEST_CASE("portable: threads share attention, its heads or the products of one") {
  using davit::EValue;
  using davit::ScalarType;
  KernelTest test;
  const auto fractions = [&](const KernelTest::Integers& sizes, int seed) {
    KernelTest::Numbers values(static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2]));
    for (double& x : values) x = (seed = (seed * 7919 + 13) % 1009) / 777.0 - 0.6;
    return test.tensor(ScalarType::float32, sizes, values);
  };
  for (const std::int64_t heads : {1, 2, 7})
    for (const std::int64_t queries : {1, 100}) {
      const EValue q = fractions({heads, queries, 20}, 1), k = fractions({heads, 90, 20}, 2),
                   v = fractions({heads, 90, 70}, 3);
      CHECK(test.is_same_on_threads(davit::portable_kernels::attention_ops, "aten.scaled_dot_product_attention.default",
                                    {q, k, v, EValue(), EValue(0.0), EValue(queries > 1), EValue(), EValue(false)}));
    }
}
