// SPDX-License-Identifier: MIT
#include "davit/kernels/byte_convolution.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

using namespace davit::kernels;

TEST_CASE("sums that may not fit are reported") {
  ByteConvolution c{.channels = 512, .kernel_height = 3, .kernel_width = 3};
  CHECK(c.terms() == 4608);
  CHECK(sums_fit(c, 1e-3f, 100.0f, {20.0f}));
  CHECK_FALSE(sums_fit(c, 1.0f, 100.0f, {20.0f}));
  CHECK_FALSE(sums_fit(c, 1e-3f, 1e9f, {20.0f}));
  c.channels = 8000;  // 72,000 products of 32,640
  CHECK_FALSE(sums_fit(c, 1e-9f, 0.0f, {1.0f}));
  c.depthwise = true;
  CHECK(c.terms() == 9);
  CHECK(sums_fit(c, 1e-9f, 0.0f, {1.0f}));
}

TEST_CASE("a window of as many elements as there are channels is no single pixel") {
  ByteConvolution c{.height = 5, .width = 5, .channels = 4, .out_height = 5, .out_width = 5, .out_channels = 4};
  CHECK(c.is_pointwise());
  c.kernel_height = c.kernel_width = 2;  // padded at the end
  c.depthwise = true;
  CHECK(c.terms() == c.channels);
  CHECK_FALSE(c.is_pointwise());
}

TEST_CASE("sizes that take much memory, or that overflow, are reported") {
  CHECK(is_countable({.images = 2,
                      .height = 224,
                      .width = 224,
                      .channels = 3,
                      .out_height = 112,
                      .out_width = 112,
                      .out_channels = 64,
                      .kernel_height = 7,
                      .kernel_width = 7,
                      .stride_height = 2,
                      .stride_width = 2,
                      .top = 3,
                      .left = 3}));
  CHECK_FALSE(is_countable({.channels = 0}));
  CHECK_FALSE(is_countable({.channels = std::int64_t{1} << 60}));
  CHECK_FALSE(is_countable({.kernel_width = 2, .dilation_width = 1 << 24, .left = 1 << 24}));
  CHECK_FALSE(is_countable({.channels = 1 << 12, .kernel_height = 1 << 12, .kernel_width = 2}));
  CHECK_FALSE(is_countable(
      {.images = 1 << 24, .height = 1 << 24, .width = 1 << 24, .out_height = 1 << 24, .out_width = 1 << 24}));
  CHECK_FALSE(is_countable({.top = -1}));
}

#if DAVIT_BYTE_CONVOLUTION

namespace {

class Numbers {
 public:
  explicit Numbers(unsigned seed) : bits_(seed) {}
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(bits_);
  }

 private:
  std::mt19937 bits_;
};

/// Random sizes; the padding at the end follows from them.
ByteConvolution random_sizes(Numbers& number) {
  ByteConvolution c{.images = number(1, 3), .height = number(1, 12), .width = number(1, 12), .channels = number(1, 40)};
  c.depthwise = number(0, 2) == 0;
  c.out_channels = c.depthwise ? c.channels : number(1, 40);
  if (number(0, 3) == 0) {
    c.out_height = c.height, c.out_width = c.width;
    return c;
  }
  c.kernel_height = number(1, 3), c.kernel_width = number(1, 3);
  c.stride_height = number(1, 2), c.stride_width = number(1, 2);
  c.dilation_height = number(1, 2), c.dilation_width = number(1, 2);
  c.top = number(0, 2), c.left = number(0, 2);
  const auto made = [&](std::int64_t size, std::int64_t kernel, std::int64_t dilation, std::int64_t stride,
                        std::int64_t before) {
    return std::max<std::int64_t>(size + before + number(0, 2) - (kernel - 1) * dilation - 1, 0) / stride + 1;
  };
  c.out_height = made(c.height, c.kernel_height, c.dilation_height, c.stride_height, c.top);
  c.out_width = made(c.width, c.kernel_width, c.dilation_width, c.stride_width, c.left);
  return c;
}

struct Case {
  ByteConvolution c;
  std::int32_t zero_point = 0;
  ByteRange range{};
  std::vector<std::int8_t> weights;
  std::vector<float> scales, biases;
};

/// The expected sums, one by one.
template <class From, class To>
std::vector<To> expected(const Case& t, const std::vector<From>& x) {
  const ByteConvolution& c = t.c;
  std::vector<To> out;
  for (std::int64_t n = 0; n < c.images; ++n)
    for (std::int64_t i = 0; i < c.out_height * c.out_width; ++i)
      for (std::int64_t o = 0; o < c.out_channels; ++o) {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < c.terms(); ++k) {  // weights are (out, channel, row, column)
          const std::int64_t tap = k % (c.kernel_height * c.kernel_width),
                             channel = c.depthwise ? o : k / (c.kernel_height * c.kernel_width);
          const std::int64_t y = i / c.out_width * c.stride_height - c.top + tap / c.kernel_width * c.dilation_height;
          const std::int64_t w = i % c.out_width * c.stride_width - c.left + tap % c.kernel_width * c.dilation_width;
          if (y < 0 || w < 0 || y >= c.height || w >= c.width) continue;
          sum +=
              (x[static_cast<std::size_t>(((n * c.height + y) * c.width + w) * c.channels + channel)] - t.zero_point) *
              t.weights[static_cast<std::size_t>(o * c.terms() + k)];
        }
        const auto at = static_cast<std::size_t>(o);
        const float steps =
            std::fma(static_cast<float>(sum), t.scales[at] * t.range.inverse, t.biases[at] * t.range.inverse);
        out.push_back(quantized<To>(steps, {1, t.range.zero_point, t.range.low, t.range.high}));
      }
  return out;
}

template <class From, class To>
std::vector<To> made(const Case& t, const std::vector<From>& x) {
  std::vector<std::int16_t> packed(static_cast<std::size_t>(packed_bytes_size(t.c)), -1);
  pack_bytes(t.c, t.weights.data(), packed.data());
  std::vector<To> out(static_cast<std::size_t>(t.c.images * t.c.out_height * t.c.out_width * t.c.out_channels), 99);
  const auto bytes = static_cast<std::size_t>(convolve_bytes_work(t.c));
  const std::unique_ptr<std::byte, void (*)(std::byte*)> work(
      new (std::align_val_t{64}) std::byte[bytes], [](std::byte* p) { ::operator delete[](p, std::align_val_t{64}); });
  convolve_bytes(t.c, x.data(), t.zero_point, packed.data(), {t.scales.data(), t.biases.data(), t.range}, work.get(),
                 reinterpret_cast<std::uint8_t*>(out.data()));
  return out;
}

template <class From, class To>
void check(unsigned seed) {
  Numbers number(seed);
  Case t{.c = random_sizes(number), .weights = {}, .scales = {}, .biases = {}};
  const ByteConvolution& c = t.c;
  CAPTURE(seed);
  const std::int64_t least = std::is_signed_v<From> ? -128 : 0, min_made = std::is_signed_v<To> ? -128 : 0;
  t.zero_point = static_cast<std::int32_t>(least + number(0, 255));
  t.range = {0.5f, static_cast<std::int32_t>(min_made + number(0, 255)),
             static_cast<std::int32_t>(min_made + number(0, 9)),
             static_cast<std::int32_t>(min_made + number(200, 255))};
  std::vector<From> x(static_cast<std::size_t>(c.images * c.height * c.width * c.channels));
  for (From& v : x) v = static_cast<From>(least + number(0, 255));
  t.weights.resize(static_cast<std::size_t>(c.out_channels * c.terms()));
  for (std::int8_t& v : t.weights) v = static_cast<std::int8_t>(number(-128, 127));
  for (std::int64_t o = 0; o < padded_channels(c); ++o) {
    t.scales.push_back(static_cast<float>(number(1, 100)) * 1e-4f);
    t.biases.push_back(static_cast<float>(number(-50, 50)));
  }
  REQUIRE(made<From, To>(t, x) == expected<From, To>(t, x));
  ThreadTeam team(3, 1.0);
  const TeamScope scope(&team);
  REQUIRE(made<From, To>(t, x) == expected<From, To>(t, x));
}

}  // namespace

TEST_CASE("convolutions of bytes are exact, for any sizes and number of threads") {
  if (!can_convolve_bytes()) return;
  for (unsigned seed = 0; seed < 100; ++seed) {
    check<std::int8_t, std::int8_t>(seed);
    check<std::int8_t, std::uint8_t>(seed + 1000);
    check<std::uint8_t, std::int8_t>(seed + 2000);
    check<std::uint8_t, std::uint8_t>(seed + 3000);
  }
}

#endif
