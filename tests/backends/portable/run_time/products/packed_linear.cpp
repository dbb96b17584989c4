// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/packed_linear.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/kernel_test.hpp"

using namespace davit;
using namespace davit::portable_kernels;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

namespace {

constexpr OpRow rows[] = {{"linear", linear_packed}, {"embedding", embedding_packed}};

/// Packed weights, and their values.
struct Weights {
  KernelTest& test;
  PackedWeights w;
  EValue words, scales, offsets;
  Numbers values;

  Weights(KernelTest& of, const PackedWeights& layout) : test(of), w(layout) {
    const Integers group_sizes{w.blocks(), w.groups, 16};
    words = test.tensor(ScalarType::int32, {w.blocks(), w.words(), 16}, {});
    scales = test.tensor(ScalarType::float32, group_sizes, {});
    offsets = test.tensor(ScalarType::float32, group_sizes, {});
    const std::int32_t most = (1 << (w.bits - 1)) - 1;
    for (std::int64_t n = 0; n < w.outputs; ++n)
      for (std::int64_t k = 0; k < w.depth; ++k) {
        const auto integer = static_cast<std::int32_t>((n * 37 + k * 11) % (2 * most + 2)) - most - 1;
        const std::int64_t place = w.place_of_scale(n, k / w.group_size());
        const float scale = 0.01f * static_cast<float>(1 + place % 7),
                    offset = 0.02f * static_cast<float>(place % 5 - 2);
        w.put(words.tensor().as<std::int32_t>(), n, k, integer);
        scales.tensor().as<float>()[place] = scale;
        offsets.tensor().as<float>()[place] = offset;
        values.push_back(static_cast<double>(static_cast<float>(integer) * scale + offset));
      }
  }
  [[nodiscard]] double value(std::int64_t n, std::int64_t k) const {
    return values[static_cast<std::size_t>(n * w.depth + k)];
  }
};

[[nodiscard]] Numbers inputs(std::int64_t count) {
  Numbers all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(static_cast<double>(i * 13 % 17 - 8) / 8);
  return all;
}

}  // namespace

TEST_CASE("linear_packed: every number of rows and outputs, in 4 and 8 bits, with groups, offsets and a bias") {
  for (const std::int64_t bits : {4, 8})
    for (const std::int64_t outputs : {1, 16, 37})
      for (const std::int64_t count : {1, 2, 3, 8, 15, 16, 33}) {
        CAPTURE(bits);
        CAPTURE(outputs);
        CAPTURE(count);
        KernelTest test;
        const Weights of(test, {.outputs = outputs, .depth = 64, .groups = outputs == 16 ? 1 : 2, .bits = bits});
        const Numbers x = inputs(count * 64), bias = inputs(outputs);
        const EValue input = test.tensor(ScalarType::float32, {count, 64}, x);
        const EValue given = test.tensor(ScalarType::float32, {outputs}, bias);
        Numbers expected;
        for (std::int64_t i = 0; i < count; ++i)
          for (std::int64_t n = 0; n < outputs; ++n) {
            double sum = bias[static_cast<std::size_t>(n)];
            for (std::int64_t k = 0; k < 64; ++k) sum += x[static_cast<std::size_t>(i * 64 + k)] * of.value(n, k);
            expected.push_back(sum);
          }
        REQUIRE(test.run(rows, "linear", {input, of.words, of.scales, of.offsets, given, outputs}) == ErrorCode::ok);
        CHECK(test.sizes() == Integers{count, outputs});
        CHECK(KernelTest::near(test.values(), expected, bits == 4 ? 1e-5 : 1e-4));
        CHECK(test.is_same_on_threads(rows, "linear", {input, of.words, of.scales, of.offsets, given, outputs}));
      }
}
TEST_CASE("linear_packed: inputs of 16 bits, in any number of dimensions, also without rows") {
  KernelTest test;
  const Weights of(test, {.outputs = 5, .depth = 8, .bits = 8});
  const Numbers x = inputs(16);
  for (const ScalarType type : {ScalarType::bfloat16, ScalarType::float16}) {
    const EValue input = test.tensor(type, {2, 1, 8}, x);
    REQUIRE(test.run(rows, "linear", {input, of.words, of.scales, of.offsets, {}, 5}) == ErrorCode::ok);
    CHECK(test.dtype() == type);
    CHECK(test.sizes() == Integers{2, 1, 5});
    double sum = 0;
    for (std::int64_t k = 0; k < 8; ++k) sum += x[static_cast<std::size_t>(8 + k)] * of.value(4, k);
    CHECK(test.values()[9] == doctest::Approx(sum).epsilon(0.01));
  }
  REQUIRE(test.run(rows, "linear", {test.tensor(ScalarType::float32, {0, 8}, {}), of.words, of.scales, {}, {}, 5}) ==
          ErrorCode::ok);
  CHECK(test.sizes() == Integers{0, 5});
}
TEST_CASE("embedding_packed: rows of packed weights") {
  for (const std::int64_t bits : {4, 8}) {
    KernelTest test;
    const Weights of(test, {.outputs = 19, .depth = 16, .groups = 2, .bits = bits});
    const EValue indices = test.tensor(ScalarType::int64, {2, 2}, {18, 0, 3, 18});
    const auto dtype = static_cast<std::int64_t>(ScalarType::float32);
    REQUIRE(test.run(rows, "embedding", {of.words, of.scales, of.offsets, indices, 19, 16, dtype}) == ErrorCode::ok);
    CHECK(test.sizes() == Integers{2, 2, 16});
    Numbers expected;
    for (const std::int64_t n : {18, 0, 3, 18})
      for (std::int64_t k = 0; k < 16; ++k) expected.push_back(of.value(n, k));
    CHECK(KernelTest::near(test.values(), expected, 1e-6));
  }
}
TEST_CASE("packed weights: what does not fit is refused") {
  KernelTest test;
  const Weights of(test, {.outputs = 5, .depth = 8, .bits = 8});
  const EValue x = test.tensor(ScalarType::float32, {1, 8}, inputs(8));
  const auto code = [&](std::string_view name, std::vector<EValue> arguments, std::size_t i, const EValue& other) {
    arguments[i] = other;
    return test.run(rows, name, arguments);
  };
  const std::vector<EValue> product{x, of.words, of.scales, of.offsets, {}, 5};
  const EValue shorter = test.tensor(ScalarType::float32, {1, 1, 8}, {});
  CHECK(code("linear", product, 0, test.tensor(ScalarType::int64, {1, 8}, {})) == ErrorCode::invalid_dtype);
  CHECK(code("linear", product, 0, test.tensor(ScalarType::float32, {1, 12}, {})) == ErrorCode::invalid_shape);
  CHECK(code("linear", product, 0, test.tensor(ScalarType::float32, {}, {})) == ErrorCode::invalid_shape);
  CHECK(code("linear", product, 1, test.tensor(ScalarType::int64, {1, 2, 16}, {})) == ErrorCode::invalid_shape);
  CHECK(code("linear", product, 1, test.tensor(ScalarType::int32, {1, 2, 8}, {})) == ErrorCode::invalid_shape);
  CHECK(code("linear", product, 1, test.view(of.words, {1, 2, 16}, {32, 1, 2})) == ErrorCode::invalid_shape);
  CHECK(code("linear", product, 2, shorter) == ErrorCode::invalid_shape);
  CHECK(code("linear", product, 2, test.tensor(ScalarType::float32, {1, 0, 16}, {})) == ErrorCode::invalid_shape);
  CHECK(code("linear", product, 3, shorter) == ErrorCode::invalid_shape);
  CHECK(code("linear", product, 4, test.tensor(ScalarType::float32, {4}, {})) == ErrorCode::invalid_shape);
  for (const std::int64_t outputs : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{17}, INT64_MAX})
    CHECK(code("linear", product, 5, outputs) == ErrorCode::invalid_shape);
  const auto dtype = static_cast<std::int64_t>(ScalarType::float32);
  const std::vector<EValue> rows_of{of.words, of.scales, {}, test.tensor(ScalarType::int64, {1}, {4}), 5, 8, dtype};
  CHECK(test.run(rows, "embedding", rows_of) == ErrorCode::ok);
  for (const double index : {-1.0, 5.0})
    CHECK(code("embedding", rows_of, 3, test.tensor(ScalarType::int64, {1}, {index})) == ErrorCode::out_of_range);
  CHECK(code("embedding", rows_of, 3, test.tensor(ScalarType::float32, {1}, {})) == ErrorCode::invalid_dtype);
  CHECK(code("embedding", rows_of, 5, std::int64_t{12}) == ErrorCode::invalid_shape);
  CHECK(code("embedding", rows_of, 6, static_cast<std::int64_t>(ScalarType::int8)) == ErrorCode::invalid_dtype);
}
