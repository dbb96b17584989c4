// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/packed_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "support/kernel_test.hpp"

using namespace davit;
using namespace davit::portable_kernels;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

namespace {

constexpr OpRow rows[] = {{"linear", linear_packed_bytes}};

/// Packed weights with their sums, and their values.
struct Weights {
  PackedWeights w;
  EValue words, scales, offsets, sums;
  Numbers values;

  Weights(KernelTest& test, const PackedWeights& layout) : w(layout) {
    const Integers group_sizes{w.blocks(), w.groups, 16};
    words = test.tensor(ScalarType::int32, {w.blocks(), w.words(), 16}, {});
    scales = test.tensor(ScalarType::float32, group_sizes, {});
    offsets = test.tensor(ScalarType::float32, group_sizes, {});
    const std::int32_t most = (1 << (w.bits - 1)) - 1;
    Numbers totals(static_cast<std::size_t>(w.blocks() * 16));
    for (std::int64_t n = 0; n < w.outputs; ++n)
      for (std::int64_t k = 0; k < w.depth; ++k) {
        const auto integer = static_cast<std::int32_t>((n * 37 + k * 11) % (2 * most + 2)) - most - 1;
        const std::int64_t place = w.place_of_scale(n, k / w.group_size());
        const float scale = 0.01f * static_cast<float>(1 + place % 7);
        const float offset = 0.02f * static_cast<float>(place % 5 - 2);
        w.put(words.tensor().as<std::int32_t>(), n, k, integer);
        scales.tensor().as<float>()[place] = scale;
        offsets.tensor().as<float>()[place] = offset;
        values.push_back(double{scale} * integer + double{offset});
        totals[static_cast<std::size_t>(n)] += values.back();
      }
    sums = test.tensor(ScalarType::float32, {w.blocks(), 1, 16}, totals);
  }
};

/// Bytes that are far from regular.
[[nodiscard]] Numbers bytes(std::int64_t count, double low) {
  Numbers all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(low + static_cast<double>(i * i * 31 % 257 % 256));
  return all;
}
[[nodiscard]] Numbers numbers(std::int64_t count, double first, double step) {
  Numbers all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(first + step * static_cast<double>(i % 9));
  return all;
}
/// The product in doubles.
[[nodiscard]] Numbers product(const Weights& of, const Numbers& x, const Numbers& scales, const Numbers& zeros,
                              const Numbers& bias) {
  Numbers out;
  const std::int64_t depth = of.w.depth;
  for (std::size_t i = 0; i < x.size() / static_cast<std::size_t>(depth); ++i)
    for (std::int64_t n = 0; n < of.w.outputs; ++n) {
      double sum = 0;
      for (std::int64_t k = 0; k < depth; ++k)
        sum += (x[i * static_cast<std::size_t>(depth) + static_cast<std::size_t>(k)] - zeros[i % zeros.size()]) *
               of.values[static_cast<std::size_t>(n * depth + k)];
      out.push_back(sum * scales[i % scales.size()] + bias[static_cast<std::size_t>(n) % bias.size()]);
    }
  return out;
}
/// True within 1e-6 of the largest number.
[[nodiscard]] bool is_close(const Numbers& a, const Numbers& b) {
  double most = 0;
  for (const double v : b) most = std::max(most, std::fabs(v));
  return KernelTest::near(a, b, 1e-6 * most);
}

}  // namespace

TEST_CASE("linear_packed_bytes: every number of rows and outputs, in 4 and 8 bits, with groups, offsets and a bias") {
  for (const std::int64_t bits : {4, 8})
    for (const std::int64_t outputs : {1, 16, 37})
      for (const std::int64_t count : {1, 2, 3, 8, 15, 16, 33}) {
        CAPTURE(bits);
        CAPTURE(outputs);
        CAPTURE(count);
        const bool is_signed = count % 2 == 1, has_offsets = outputs != 16;
        KernelTest test;
        Weights of(test, {.outputs = outputs, .depth = 64, .groups = outputs == 16 ? 1 : 2, .bits = bits});
        if (!has_offsets) {  // a table of zeros would give the same
          Numbers totals(16);
          for (std::int64_t n = 0; n < outputs; ++n)
            for (std::int64_t k = 0; k < 64; ++k) {
              double& value = of.values[static_cast<std::size_t>(n * 64 + k)];
              value -= double{of.offsets.tensor().as<float>()[of.w.place_of_scale(n, 0)]};
              totals[static_cast<std::size_t>(n)] += value;
            }
          of.sums = test.tensor(ScalarType::float32, {1, 1, 16}, totals);
        }
        const Numbers x = bytes(count * 64, is_signed ? -128 : 0), bias = numbers(outputs, -1, 0.25);
        const Numbers scales = numbers(count, 0.01, 0.003), zeros = numbers(count, is_signed ? -20 : 100, 7);
        const EValue input = test.tensor(is_signed ? ScalarType::int8 : ScalarType::uint8, {count, 64}, x);
        const EValue row_scales = test.tensor(ScalarType::float64, {count, 1}, scales);
        const EValue row_zeros = test.tensor(ScalarType::int64, {count, 1}, zeros);
        const EValue given = test.tensor(ScalarType::float32, {outputs}, bias);
        const EValue offsets = has_offsets ? of.offsets : EValue{};
        REQUIRE(test.run(rows, "linear",
                         {input, row_scales, row_zeros, of.words, of.scales, offsets, of.sums, given, outputs, {}}) ==
                ErrorCode::ok);
        CHECK(test.sizes() == Integers{count, outputs});
        CHECK(is_close(test.values(), product(of, x, scales, zeros, bias)));
        CHECK(test.is_same_on_threads(
            rows, "linear", {input, row_scales, row_zeros, of.words, of.scales, offsets, of.sums, given, outputs, {}}));
      }
}
TEST_CASE("linear_packed_bytes: one scale and zero point, no zero points, other layouts and dtypes, no rows") {
  KernelTest test;
  const Weights of(test, {.outputs = 5, .depth = 8, .bits = 8});
  const Numbers x = bytes(32, -128), none{0};
  const EValue scale = test.tensor(ScalarType::float32, {1}, {0.5}), zero = test.tensor(ScalarType::int64, {1}, {-3});
  const EValue input = test.tensor(ScalarType::int8, {2, 2, 8}, x);
  const auto run = [&](const EValue& in, const EValue& zeros, ScalarType type) {
    return test.run(
        rows, "linear",
        {in, scale, zeros, of.words, of.scales, of.offsets, of.sums, {}, 5, static_cast<std::int64_t>(type)});
  };
  REQUIRE(run(input, zero, ScalarType::float32) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{2, 2, 5});
  CHECK(is_close(test.values(), product(of, x, {0.5}, {-3}, none)));
  REQUIRE(run(input, {}, ScalarType::float32) == ErrorCode::ok);
  CHECK(is_close(test.values(), product(of, x, {0.5}, none, none)));
  for (const ScalarType type : {ScalarType::bfloat16, ScalarType::float16}) {
    REQUIRE(run(input, zero, type) == ErrorCode::ok);
    CHECK(test.dtype() == type);
    CHECK(test.values()[9] == doctest::Approx(product(of, x, {0.5}, {-3}, none)[9]).epsilon(0.01));
  }
  const EValue turned = test.view(input, {2, 2, 8}, {8, 16, 1});  // rows 0, 2, 1, 3
  Numbers moved(x);
  std::ranges::copy(x.begin() + 16, x.begin() + 24, moved.begin() + 8);
  std::ranges::copy(x.begin() + 8, x.begin() + 16, moved.begin() + 16);
  REQUIRE(run(turned, zero, ScalarType::float32) == ErrorCode::ok);
  CHECK(is_close(test.values(), product(of, moved, {0.5}, {-3}, none)));
  REQUIRE(run(test.tensor(ScalarType::int8, {0, 8}, {}), zero, ScalarType::float32) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{0, 5});
}
TEST_CASE("linear_packed_bytes: a NaN scale gives NaN in its row alone") {
  KernelTest test;
  const Weights of(test, {.outputs = 3, .depth = 8, .bits = 4});
  const EValue input = test.tensor(ScalarType::int8, {2, 8}, bytes(16, -128));
  const EValue scales = test.tensor(ScalarType::float32, {2, 1}, {NAN, 1});
  REQUIRE(test.run(rows, "linear", {input, scales, {}, of.words, of.scales, {}, of.sums, {}, 3, {}}) == ErrorCode::ok);
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::isnan(test.values()[i]) == (i < 3));
}
TEST_CASE("sums of groups: the same bits on vectors of every size") {
  constexpr std::int64_t groups = 5, count = 16;
  std::vector<std::int32_t> sums(groups * count * 16);
  std::vector<float> scales(groups * 16), offsets(groups * 16), x_sums(groups * count);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<std::int32_t>(i * 7919 % 100003) - 50000;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    scales[i] = 0.013f + 0.0007f * static_cast<float>(i % 31);
    offsets[i] = 0.7f - 0.03f * static_cast<float>(i % 47);
  }
  for (std::size_t i = 0; i < x_sums.size(); ++i) x_sums[i] = static_cast<float>(i * 101 % 997) - 400;
  const auto totals = [&](auto run) {
    std::vector<float> out(count * 16, 0.0f);
    const portable_kernels::detail::GroupSums all{count,          groups,        sums.data(), scales.data(),
                                                  offsets.data(), x_sums.data(), out.data()};
    run(&all);
    return out;
  };
  const std::vector<float> narrow = totals([](const portable_kernels::detail::GroupSums* all) {
    kernels::run_on<portable_kernels::detail::AddGroupSums, kernels::vector_bytes>(all);
  });
  const std::vector<float> widest = totals([](const portable_kernels::detail::GroupSums* all) {
    kernels::run_widest<portable_kernels::detail::AddGroupSums>(all);
  });
  CHECK(std::memcmp(narrow.data(), widest.data(), narrow.size() * sizeof(float)) == 0);
}
TEST_CASE("linear_packed_bytes: what does not fit is refused") {
  KernelTest test;
  const Weights of(test, {.outputs = 5, .depth = 8, .bits = 8});
  const EValue x = test.tensor(ScalarType::int8, {2, 8}, bytes(16, -128));
  const EValue scale = test.tensor(ScalarType::float32, {2, 1}, {1, 1});
  const std::vector<EValue> good{x, scale, {}, of.words, of.scales, of.offsets, of.sums, {}, 5, {}};
  const auto code = [&](std::size_t i, const EValue& other) {
    std::vector<EValue> arguments = good;
    arguments[i] = other;
    return test.run(rows, "linear", arguments);
  };
  CHECK(test.run(rows, "linear", good) == ErrorCode::ok);
  CHECK(code(0, test.tensor(ScalarType::float32, {2, 8}, {})) == ErrorCode::invalid_dtype);
  CHECK(code(0, test.tensor(ScalarType::int8, {2, 12}, {})) == ErrorCode::invalid_shape);
  CHECK(code(0, test.tensor(ScalarType::int8, {}, {})) == ErrorCode::invalid_shape);
  for (const std::size_t i : {1u, 2u}) {
    CHECK(code(i, test.tensor(ScalarType::float32, {3}, {})) == ErrorCode::invalid_shape);
    CHECK(code(i, test.tensor(ScalarType::complex64, {2}, {})) == ErrorCode::invalid_shape);
  }
  CHECK(code(3, test.tensor(ScalarType::int32, {1, 2, 8}, {})) == ErrorCode::invalid_shape);
  CHECK(code(4, test.tensor(ScalarType::float32, {1, 2, 8}, {})) == ErrorCode::invalid_shape);
  CHECK(code(5, test.tensor(ScalarType::float32, {1, 2, 8}, {})) == ErrorCode::invalid_shape);
  CHECK(code(6, test.tensor(ScalarType::float32, {1, 8}, {})) == ErrorCode::invalid_shape);
  CHECK(code(6, test.tensor(ScalarType::int32, {1, 1, 16}, {})) == ErrorCode::invalid_shape);
  CHECK(code(7, test.tensor(ScalarType::float32, {4}, {})) == ErrorCode::invalid_shape);
  CHECK(code(8, std::int64_t{17}) == ErrorCode::invalid_shape);
  CHECK(code(9, static_cast<std::int64_t>(ScalarType::int8)) == ErrorCode::invalid_dtype);
  // a group whose sums may not fit
  const std::int64_t deep = 2 * portable_kernels::detail::most_of_group;
  const EValue words = test.tensor(ScalarType::int32, {1, deep / 8, 16}, {});
  const EValue table = test.tensor(ScalarType::float32, {1, 1, 16}, {});
  CHECK(test.run(rows, "linear",
                 {test.tensor(ScalarType::int8, {1, deep}, {}),
                  test.tensor(ScalarType::float32, {1}, {1}),
                  {},
                  words,
                  table,
                  {},
                  table,
                  {},
                  16,
                  {}}) == ErrorCode::invalid_shape);
}
