// SPDX-License-Identifier: MIT
#include "davit/kernels/byte_blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/kernels/quantize.hpp"

using namespace davit::kernels;

#if DAVIT_BYTE_CONVOLUTION

namespace {

constexpr std::int64_t all_channels = 40;  // the first 32 are computed

/// Some pixels, each of two stretches of a source, and weights of two blocks of channels.
struct Sums {
  std::int64_t count, runs = 2, pairs = 5;
  std::vector<std::int16_t> source, weights;
  std::vector<std::int64_t> pixels, offsets;
  std::vector<float> scales, biases;
  ByteRange range{4.0f, 3, -120, 125};

  explicit Sums(std::int64_t pixel_count) : count(pixel_count) {
    for (std::int64_t i = 0; i < 600; ++i) source.push_back(static_cast<std::int16_t>(i * 7919 % 511 - 255));
    for (std::int64_t i = 0; i < 2 * block_weights(); ++i)
      weights.push_back(static_cast<std::int16_t>(i * 6007 % 255 - 127));
    for (std::int64_t p = 0; p < count; ++p) pixels.push_back(p * 17);
    offsets = {3, 90};
    for (int o = 0; o < 32; ++o)
      scales.push_back(1e-3f + 1e-5f * static_cast<float>(o)), biases.push_back(0.5f * static_cast<float>(o));
  }
  [[nodiscard]] std::int64_t block_weights() const { return runs * pairs * 32; }
  [[nodiscard, gnu::target("avx2,fma")]] detail::ByteBlock block(std::int64_t b, std::vector<std::uint8_t>& to) const {
    detail::ByteBlock block{runs,
                            pairs,
                            source.data(),
                            pixels.data(),
                            offsets.data(),
                            weights.data() + b * block_weights(),
                            {},
                            to.data() + b * 16};
    block.store.channels = 16;
    block.store.all_channels = all_channels;
    detail::read_store({scales.data(), biases.data(), range}, b * 16, false, block.store);
    return block;
  }
  /// The expected bytes, one by one.
  [[nodiscard]] std::vector<std::uint8_t> expected(std::int64_t blocks) const {
    std::vector<std::uint8_t> out(static_cast<std::size_t>(count * all_channels));
    for (std::int64_t p = 0; p < count; ++p)
      for (std::int64_t o = 0; o < 16 * blocks; ++o) {
        std::int32_t sum = 0;
        for (std::int64_t r = 0; r < runs; ++r)
          for (std::int64_t e = 0; e < 2 * pairs; ++e)
            sum += source[static_cast<std::size_t>(pixels[static_cast<std::size_t>(p)] +
                                                   offsets[static_cast<std::size_t>(r)] + e)] *
                   weights[static_cast<std::size_t>(o / 16 * block_weights() + (r * pairs + e / 2) * 32 + o % 16 * 2 +
                                                    e % 2)];
        const auto at = static_cast<std::size_t>(o);
        const float x =
            std::nearbyintf(std::fmaf(static_cast<float>(sum), scales[at] * range.inverse, biases[at] * range.inverse));
        out[static_cast<std::size_t>(p * all_channels + o)] = static_cast<std::uint8_t>(
            std::min(std::max(static_cast<std::int32_t>(x) + range.zero_point, range.low), range.high));
      }
    return out;
  }
};

}  // namespace

TEST_CASE("sums of a block of channels become their bytes, however many pixels are computed together") {
  if (!can_convolve_bytes()) return;
  const Sums sums(13);
  std::vector<std::uint8_t> made(static_cast<std::size_t>(sums.count * all_channels));
  const detail::ByteBlock block = sums.block(0, made);
  CHECK(detail::multiply_bytes<6, 2>(block, 0, sums.count) == 12);
  CHECK(detail::multiply_bytes<1, 2>(block, 12, sums.count) == 13);
  CHECK(made == sums.expected(1));
}

TEST_CASE("on vectors of 512 bits, one block of channels or two, they become the same") {
  if (!can_convolve_bytes() || !detail::has_wide_byte_products()) return;
  const Sums sums(20);
  std::vector<std::uint8_t> one(static_cast<std::size_t>(sums.count * all_channels)), two = one;
  const detail::ByteBlock block[] = {sums.block(0, one)}, blocks[] = {sums.block(0, two), sums.block(1, two)};
  CHECK(detail::multiply_bytes_wide<8>(block, 0, sums.count) == 16);
  CHECK(detail::multiply_bytes_wide<3>(block, 16, sums.count) == 19);
  CHECK(detail::multiply_bytes_wide<1>(block, 19, sums.count) == 20);
  CHECK(detail::multiply_bytes_wide<8>(blocks, 0, sums.count) == 16);
  CHECK(detail::multiply_bytes_wide<3>(blocks, 16, sums.count) == 19);
  CHECK(detail::multiply_bytes_wide<1>(blocks, 19, sums.count) == 20);
  CHECK(one == sums.expected(1));
  CHECK(two == sums.expected(2));
}

#endif
