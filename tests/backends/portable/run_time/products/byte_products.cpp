// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/byte_products.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "support/kernel_test.hpp"

using namespace davit;
using namespace davit::portable_kernels;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

namespace {

constexpr kernels::ByteScale halves{0.5f, 3};
constexpr kernels::ByteRange quarters{4.0f, -2, -128, 127};
constexpr OpRow rows[] = {{"product", byte_product}, {"sum", byte_sum}};

[[nodiscard]] Numbers bytes(std::int64_t count) {
  Numbers all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(static_cast<double>(i * 29 % 61 - 30));
  return all;
}
[[nodiscard]] double quantized(double x) { return std::clamp(std::nearbyint(x * 4) - 2, -128.0, 127.0); }

/// (2, 3, 4, 5) in row-major order, and channels_last.
struct Images {
  KernelTest test;
  Integers sizes{2, 3, 4, 5};
  Numbers numbers = bytes(120);
  EValue row_major = test.tensor(ScalarType::int8, sizes, numbers);
  EValue channels_last() {
    Numbers moved;
    for (std::size_t n = 0; n < 2; ++n)
      for (std::size_t p = 0; p < 20; ++p)
        for (std::size_t c = 0; c < 3; ++c) moved.push_back(numbers[n * 60 + c * 20 + p]);
    return test.view(test.tensor(ScalarType::int8, sizes, moved), sizes, {60, 1, 15, 3});
  }
};

[[nodiscard]] std::vector<EValue> call_of(std::initializer_list<EValue> tensors, const std::vector<EValue>& numbers) {
  std::vector<EValue> all(tensors);
  all.insert(all.end(), numbers.begin(), numbers.end());
  return all;
}

}  // namespace

TEST_CASE("a sum of bytes, of operands in either layout, has the requested layout") {
  Images of;
  Numbers expected;
  for (const double x : of.numbers) expected.push_back(quantized((x - 3) * 0.5 + (x - 3) * 0.5));
  for (const ByteLayout layout : {ByteLayout::row_major, ByteLayout::channels_last})
    for (const EValue& other : {of.row_major, of.channels_last()}) {
      REQUIRE(of.test.run(rows, "sum",
                          call_of({of.row_major, other}, byte_sum_numbers(halves, halves, quarters, layout))) ==
              ErrorCode::ok);
      CHECK(of.test.values() == expected);
      CHECK(of.test.outputs[0].tensor().stride(1) == (layout == ByteLayout::row_major ? 20 : 1));
    }
}

TEST_CASE("a sum of bytes refuses other sizes, other dtypes and gaps") {
  Images of;
  const std::vector<EValue> numbers = byte_sum_numbers(halves, halves, quarters, ByteLayout::row_major);
  const auto code = [&](const EValue& other) {
    return of.test.run(rows, "sum", call_of({of.row_major, other}, numbers));
  };
  CHECK(code(of.test.tensor(ScalarType::int8, {2, 3, 4, 1}, bytes(24))) == ErrorCode::invalid_shape);
  CHECK(code(of.test.tensor(ScalarType::uint8, {2, 3, 4, 5}, {})) == ErrorCode::invalid_dtype);
  CHECK(code(of.test.view(of.test.tensor(ScalarType::int8, {1000}, {}), {2, 3, 4, 5}, {120, 40, 10, 2})) ==
        ErrorCode::invalid_shape);
  CHECK(
      of.test.run(rows, "sum",
                  call_of({of.test.tensor(ScalarType::int8, {0, 3}, {}), of.test.tensor(ScalarType::int8, {0, 3}, {})},
                          numbers)) == ErrorCode::ok);
}

TEST_CASE("a product of bytes is exact, of sources in either layout and of rows") {
  if (!kernels::can_convolve_bytes()) return;
  Images of;
  const ByteProduct images{
      .convolution =
          {.channels = 3, .out_channels = 2, .kernel_height = 3, .kernel_width = 1, .stride_height = 2, .top = 1},
      .bottom = 2};
  const ByteProduct matrix{
      .convolution = {.channels = 5, .out_channels = 4}, .of_rows = true, .made = ScalarType::uint8};
  const auto constants = [&](const kernels::ByteConvolution& c, const Numbers& weights) {
    std::vector<std::int8_t> small;
    for (const double w : weights) small.push_back(static_cast<std::int8_t>(w));
    std::vector<std::int16_t> packed(static_cast<std::size_t>(kernels::packed_bytes_size(c)));
    kernels::pack_bytes(c, small.data(), packed.data());
    Numbers channels(static_cast<std::size_t>(2 * kernels::padded_channels(c)), 0.0);
    for (std::int64_t o = 0; o < c.out_channels; ++o) {
      channels[static_cast<std::size_t>(o)] = 0.001;
      channels[static_cast<std::size_t>(kernels::padded_channels(c) + o)] = 0.25 * static_cast<double>(o);
    }
    return std::pair(of.test.tensor(ScalarType::int16, {static_cast<std::int64_t>(packed.size())},
                                    Numbers(packed.begin(), packed.end())),
                     of.test.tensor(ScalarType::float32, {static_cast<std::int64_t>(channels.size())}, channels));
  };
  const Numbers weights = bytes(20);
  const auto of_images = constants(images.convolution, weights), of_rows = constants(matrix.convolution, weights);
  Numbers expected;  // (2, 2, 3, 5)
  for (int n = 0; n < 2; ++n)
    for (int o = 0; o < 2; ++o)
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 5; ++x) {
          double sum = 0;
          for (int c = 0; c < 3; ++c)
            for (int k = 0; k < 3; ++k)
              if (const int line = y * 2 - 1 + k; line >= 0 && line < 4)
                sum += (of.numbers[static_cast<std::size_t>(n * 60 + c * 20 + line * 5 + x)] - 3) *
                       weights[static_cast<std::size_t>(o * 9 + c * 3 + k)];
          expected.push_back(quantized(sum * static_cast<double>(0.001f) + 0.25 * o));
        }
  for (const EValue& source : {of.row_major, of.channels_last()})
    for (const ByteLayout layout : {ByteLayout::row_major, ByteLayout::channels_last}) {
      REQUIRE(of.test.run(rows, "product",
                          call_of({source, of_images.first, of_images.second},
                                  byte_product_numbers(images, 3, quarters, layout))) == ErrorCode::ok);
      CHECK(of.test.sizes() == Integers{2, 2, 3, 5});
      CHECK(of.test.values() == expected);
      CHECK(of.test.outputs[0].tensor().stride(1) == (layout == ByteLayout::row_major ? 15 : 1));
    }

  const kernels::ByteRange whole{4.0f, 128, 0, 255};
  const std::vector<EValue> row_numbers = byte_product_numbers(matrix, 3, whole, ByteLayout::row_major);
  REQUIRE(of.test.run(rows, "product", call_of({of.row_major, of_rows.first, of_rows.second}, row_numbers)) ==
          ErrorCode::ok);
  CHECK(of.test.sizes() == Integers{2, 3, 4, 4});
  CHECK(of.test.dtype() == ScalarType::uint8);
  const Numbers made = of.test.values();
  for (std::size_t row = 0; row < 24; ++row)
    for (std::size_t o = 0; o < 4; ++o) {
      double sum = 0;
      for (std::size_t k = 0; k < 5; ++k) sum += (of.numbers[row * 5 + k] - 3) * weights[o * 5 + k];
      CHECK(made[row * 4 + o] ==
            std::clamp(std::nearbyint((sum * static_cast<double>(0.001f) + 0.25 * static_cast<double>(o)) * 4) + 128,
                       0.0, 255.0));
    }

  // sources that do not fit the weights are refused
  const auto code = [&](const EValue& source, const ByteProduct& p) {
    const auto& c = p.of_rows ? of_rows : of_images;
    return of.test.run(
        rows, "product",
        call_of({source, c.first, c.second}, byte_product_numbers(p, 3, quarters, ByteLayout::row_major)));
  };
  CHECK(code(of.test.tensor(ScalarType::int8, {2, 4, 4, 5}, {}), images) == ErrorCode::invalid_shape);
  CHECK(code(of.test.tensor(ScalarType::int8, {3, 4}, {}), images) == ErrorCode::invalid_shape);
  CHECK(code(of.test.tensor(ScalarType::int8, {2, 3, 0, 5}, {}), {.convolution = images.convolution}) ==
        ErrorCode::invalid_shape);
  CHECK(code(of.test.tensor(ScalarType::int8, {1, 3, 5}, {}), {.convolution = images.convolution, .bottom = 4}) ==
        ErrorCode::invalid_shape);  // 1d signals have no second line
  CHECK(code(of.test.tensor(ScalarType::float32, {2, 3, 4, 5}, {}), images) == ErrorCode::invalid_dtype);
  CHECK(code(of.test.tensor(ScalarType::int8, {2, 6}, {}), matrix) == ErrorCode::invalid_shape);
  CHECK(code(of.test.tensor(ScalarType::int8, {}, {}), matrix) == ErrorCode::invalid_shape);
  CHECK(code(of.test.view(of.test.tensor(ScalarType::int8, {1000}, {}), {2, 3, 4, 5}, {120, 40, 10, 2}), images) ==
        ErrorCode::invalid_shape);
  CHECK(code(of.test.tensor(ScalarType::int8, {0, 3, 4, 5}, {}), images) == ErrorCode::ok);
}
