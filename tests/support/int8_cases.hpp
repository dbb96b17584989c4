// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/backends/portable/int8/conv2d.hpp"
#include "davit/backends/portable/int8/depthwise.hpp"
#include "davit/backends/portable/int8/elementwise.hpp"
#include "davit/backends/portable/int8/group_linear.hpp"
#include "davit/backends/portable/int8/linear.hpp"

/// Random cases for the int8 kernels with versions per instruction set. Runs on a host and on a board: no heap, no
/// exceptions.
namespace davit::int8_cases {

using namespace int8_kernels;

/// Numerical Recipes' generator: the same cases everywhere.
class Random {
 public:
  explicit Random(std::uint32_t seed) noexcept : state_(seed) {}
  /// From `low` to `high`, both included.
  [[nodiscard]] std::int32_t in(std::int32_t low, std::int32_t high) noexcept {
    state_ = state_ * 1664525u + 1013904223u;
    return low + static_cast<std::int32_t>((state_ >> 8) % static_cast<std::uint32_t>(high - low + 1));
  }
  [[nodiscard]] float real(float low, float high) noexcept {
    return low + (high - low) * (static_cast<float>(in(0, 1 << 20)) / (1 << 20));
  }

 private:
  std::uint32_t state_;
};

/// Memory of a case.
template <class T>
struct Buffers {
  std::array<T, 12000> x;
  std::array<std::int8_t, 6000> weights;
  std::array<std::uint8_t, 3000> halves;  ///< weights of 4 bits
  std::array<float, 64> scales, bias;
  std::array<T, 18500> y, expected;
  std::array<std::int32_t, 2000> scratch;
};

/// A requantization with random scales, and any shift that they allow.
[[nodiscard]] inline Requantize random_requantize(Random& random, float largest_scale) noexcept {
  Requantize q;
  const float input_scale = random.real(0.001f, 0.1f);
  const float target = random.in(0, 3) == 0 ? random.real(0.05f, 0.2f) : random.real(0.0005f, 0.05f);
  q.output_scale = input_scale * largest_scale / target;
  while (target * std::ldexp(1.0f, 32 + fraction_bits - q.shift) >= 2147483000.0f) ++q.shift;
  q.shift += random.in(0, 2);
  q.ratio = input_scale / q.output_scale * std::ldexp(1.0f, 32 + fraction_bits - q.shift);
  q.input_zero_point = random.in(0, 2) == 0 ? -128 : random.in(-128, 127);
  q.output_offset = static_cast<float>(random.in(-128, 127)) + 0.5f;
  if (random.in(0, 3) == 0) {
    q.low = random.in(-128, 0);
    q.high = random.in(1, 127);
  }
  return q;
}

/// A check adds it to one expected sum, to prove that it would find an error.
inline std::int64_t planted_error = 0;

/// One result by definition, in 64 bits.
template <class T>
[[nodiscard]] T expected_result(std::int64_t sum, const Channel& c, const Requantize& q) noexcept {
  std::int64_t v =
      ((sum + planted_error) * (std::int64_t{1} << q.shift) + c.initial) * c.multiplier >> (32 + fraction_bits);
  v = v < -128 ? -128 : v > 127 ? 127 : v;
  v = v < q.low ? q.low : v > q.high ? q.high : v;
  return static_cast<T>(static_cast<std::uint8_t>(v) ^ flip<T>);
}

template <class T>
void fill_random(Buffers<T>& b, Random& random) noexcept {
  for (T& v : b.x) v = static_cast<T>(random.in(0, 255));
  for (std::int8_t& v : b.weights) v = static_cast<std::int8_t>(random.in(-128, 127));
  for (float& v : b.scales) v = random.real(0.0001f, 0.01f);
  for (float& v : b.bias) v = random.real(-0.2f, 0.2f);
  for (std::int32_t& v : b.scratch) v = random.in(-100000, 100000);
  b.y.fill(T(55));
}

[[nodiscard]] inline std::int32_t out_size(std::int32_t in, std::int32_t kernel, std::int32_t stride, std::int32_t pad,
                                           std::int32_t dilation) noexcept {
  return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

enum class ConvKind { general, pointwise, depthwise };

[[nodiscard]] inline Conv2dShape random_shape(Random& random, ConvKind kind) noexcept {
  Conv2dShape s;
  s.batch = random.in(1, 2);
  s.groups = kind == ConvKind::depthwise                         ? random.in(1, 9)
             : kind == ConvKind::general && random.in(0, 2) == 0 ? random.in(1, 4)
                                                                 : 1;
  s.in_channels = kind == ConvKind::depthwise ? 1 : kind == ConvKind::pointwise ? random.in(1, 40) : random.in(1, 5);
  s.out_channels = kind == ConvKind::depthwise ? random.in(1, 3) : random.in(1, 9);
  s.in_h = random.in(1, 11);
  s.in_w = random.in(1, kind == ConvKind::depthwise ? 19 : 13);
  if (kind == ConvKind::pointwise) {
    s.out_h = s.in_h;
    s.out_w = s.in_w;
    return s;
  }
  const bool depthwise = kind == ConvKind::depthwise;
  s.pad_h = random.in(0, 2);
  s.pad_w = random.in(0, 2);
  const auto fit = [&](std::int32_t in, std::int32_t pad) {
    return depthwise ? 3 : random.in(1, in + 2 * pad < 5 ? in + 2 * pad : 5);
  };
  if (depthwise && s.in_h + 2 * s.pad_h < 3) s.pad_h = 1;
  if (depthwise && s.in_w + 2 * s.pad_w < 3) s.pad_w = 1;
  s.kernel_h = fit(s.in_h, s.pad_h);
  s.kernel_w = fit(s.in_w, s.pad_w);
  s.stride_h = random.in(1, 3);
  s.stride_w = random.in(1, 3);
  if (!depthwise && s.in_h + 2 * s.pad_h >= 2 * (s.kernel_h - 1) + 1) s.dilation_h = random.in(1, 2);
  if (!depthwise && s.in_w + 2 * s.pad_w >= 2 * (s.kernel_w - 1) + 1) s.dilation_w = random.in(1, 2);
  s.out_h = out_size(s.in_h, s.kernel_h, s.stride_h, s.pad_h, s.dilation_h);
  s.out_w = out_size(s.in_w, s.kernel_w, s.stride_w, s.pad_w, s.dilation_w);
  return s;
}

/// The sum of one output element, from the definition of the convolution.
template <class T>
[[nodiscard]] std::int64_t conv_sum(const Buffers<T>& b, const Conv2dShape& s, std::int32_t zero, std::int32_t n,
                                    std::int32_t o, std::int32_t oy, std::int32_t ox) noexcept {
  std::int64_t sum = 0;
  for (std::int32_t c = 0; c < s.in_channels; ++c)
    for (std::int32_t ky = 0; ky < s.kernel_h; ++ky)
      for (std::int32_t kx = 0; kx < s.kernel_w; ++kx) {
        const std::int32_t iy = oy * s.stride_h + ky * s.dilation_h - s.pad_h;
        const std::int32_t ix = ox * s.stride_w + kx * s.dilation_w - s.pad_w;
        if (iy < 0 || ix < 0 || iy >= s.in_h || ix >= s.in_w) continue;
        const std::int32_t channel = (n * s.groups + o / s.out_channels) * s.in_channels + c;
        const T x = b.x[static_cast<std::size_t>((channel * s.in_h + iy) * s.in_w + ix)];
        const std::int32_t w =
            b.weights[static_cast<std::size_t>(((o * s.in_channels + c) * s.kernel_h + ky) * s.kernel_w + kx)];
        sum += (static_cast<std::int8_t>(static_cast<std::uint8_t>(x) ^ flip<T>) - zero) * std::int64_t{w};
      }
  return sum;
}

/// Checks a convolution of random shape: true if the kernel's bytes are the definition's, and no byte behind them is
/// written.
template <class Isa, class T>
[[nodiscard]] bool conv_case(Buffers<T>& b, std::uint32_t seed, ConvKind kind) noexcept {
  Random random(seed);
  fill_random(b, random);
  Conv2d p;
  p.shape = random_shape(random, kind);
  const Conv2dShape& s = p.shape;
  p.q = random_requantize(random, 0.01f);
  p.pointwise = is_pointwise(s) ? 1 : 0;
  p.weight_scale = random.real(0.001f, 0.01f);
  const float* const scales = random.in(0, 3) == 0 ? nullptr : b.scales.data();
  const float* const bias = random.in(0, 3) == 0 ? nullptr : b.bias.data();
  std::size_t i = 0;
  for (std::int32_t n = 0; n < s.batch; ++n)
    for (std::int32_t o = 0; o < s.groups * s.out_channels; ++o) {
      const auto at = static_cast<std::size_t>(o);
      const Channel c =
          channel_of(p.q, scales != nullptr ? scales[at] : p.weight_scale, bias != nullptr ? bias[at] : 0.0f);
      for (std::int32_t oy = 0; oy < s.out_h; ++oy)
        for (std::int32_t ox = 0; ox < s.out_w; ++ox)
          b.expected[i++] = expected_result<T>(conv_sum(b, s, p.q.input_zero_point, n, o, oy, ox), c, p.q);
    }
  const bool depthwise = kind == ConvKind::depthwise;
  const std::size_t scratch = (depthwise ? depthwise3x3_scratch(s) : conv2d_scratch(s)) / 4;
  const std::int32_t guard = b.scratch[scratch];
  if (depthwise)
    depthwise3x3<Isa>(b.x.data(), b.weights.data(), scales, bias, b.y.data(), b.scratch.data(), p);
  else
    conv2d<Isa>(b.x.data(), b.weights.data(), scales, bias, b.y.data(), b.scratch.data(), p);
  return std::memcmp(b.y.data(), b.expected.data(), i) == 0 && b.y[i] == T(55) && b.scratch[scratch] == guard;
}

/// Makes the weights of rows fit 4 bits, and packs them as PackedLayout::rows says, in groups of `n`.
template <class T>
void pack_halves(Buffers<T>& b, std::int32_t n) noexcept {
  for (std::int8_t& w : b.weights) w = static_cast<std::int8_t>(w >> 4);
  for (std::size_t i = 0; i < b.halves.size(); ++i) {
    const auto half = static_cast<std::size_t>(n / 2), at = i / half * half + i;
    const auto field = [&](std::size_t k) { return k < b.weights.size() ? b.weights[k] & 15 : 0; };
    b.halves[i] = static_cast<std::uint8_t>(field(at) | field(at + half) << 4);
  }
}
/// Calls f with the weights of so many bits.
template <class T, class F>
void with_weights(const Buffers<T>& b, bool halves, F&& f) noexcept {
  if (halves)
    f(b.halves.data());
  else
    f(b.weights.data());
}
/// The sum of one output of a row for inputs [first, first + n).
template <class T>
[[nodiscard]] std::int64_t linear_sum(const Buffers<T>& b, std::int32_t x_row, std::int32_t w_row, std::int32_t first,
                                      std::int32_t n, std::int32_t zero) noexcept {
  std::int64_t sum = 0;
  for (std::int32_t k = first; k < first + n; ++k)
    sum += (static_cast<std::int8_t>(static_cast<std::uint8_t>(b.x[static_cast<std::size_t>(x_row + k)]) ^ flip<T>) -
            zero) *
           std::int64_t{b.weights[static_cast<std::size_t>(w_row + k)]};
  return sum;
}

template <class Isa, class T>
[[nodiscard]] bool linear_case(Buffers<T>& b, std::uint32_t seed) noexcept {
  Random random(seed);
  fill_random(b, random);
  Linear p;
  p.rows = random.in(1, 3);
  p.in_features = random.in(1, 90);
  p.out_features = random.in(1, 20);
  p.q = random_requantize(random, 0.01f);
  p.weight_scale = random.real(0.001f, 0.01f);
  const float* const scales = random.in(0, 3) == 0 ? nullptr : b.scales.data();
  const float* const bias = random.in(0, 3) == 0 ? nullptr : b.bias.data();
  const bool halves = random.in(0, 1) == 0;
  if (halves) pack_halves(b, p.in_features += p.in_features % 2);
  std::size_t i = 0;
  for (std::int32_t row = 0; row < p.rows; ++row)
    for (std::int32_t o = 0; o < p.out_features; ++o) {
      const std::int64_t sum =
          linear_sum(b, row * p.in_features, o * p.in_features, 0, p.in_features, p.q.input_zero_point);
      const auto at = static_cast<std::size_t>(o);
      const Channel c =
          channel_of(p.q, scales != nullptr ? scales[at] : p.weight_scale, bias != nullptr ? bias[at] : 0.0f);
      b.expected[i++] = expected_result<T>(sum, c, p.q);
    }
  with_weights(b, halves, [&](const auto* weights) { linear<Isa>(b.x.data(), weights, scales, bias, b.y.data(), p); });
  return std::memcmp(b.y.data(), b.expected.data(), i) == 0 && b.y[i] == T(55);
}

/// Checks a linear with a scale per group: its bits are those of sums that are rounded at each step.
template <class Isa, class T>
[[nodiscard]] bool group_linear_case(Buffers<T>& b, std::uint32_t seed) noexcept {
  Random random(seed);
  fill_random(b, random);
  GroupLinear p;
  p.rows = random.in(1, 3);
  p.groups = random.in(1, 4);
  const std::int32_t n = random.in(0, 3) == 0 ? 32 : 2 * random.in(1, 35);
  p.in_features = n * p.groups;
  p.out_features = random.in(1, 64 / p.groups < 20 ? 64 / p.groups : 20);
  p.input_zero_point = random.in(0, 2) == 0 ? 0 : random.in(-128, 127);
  p.input_scale = random.real(0.001f, 0.1f);
  p.to = {.inverse_scale = random.real(5.0f, 500.0f), .zero_point = static_cast<float>(random.in(-128, 127))};
  p.to.low = static_cast<float>(random.in(-128, 0)), p.to.high = static_cast<float>(random.in(1, 127));
  if (flip<T> != 0) p.to.zero_point += 128, p.to.low += 128, p.to.high += 128;
  const float* const bias = random.in(0, 3) == 0 ? nullptr : b.bias.data();
  const bool halves = random.in(0, 1) == 0;
  if (halves) pack_halves(b, n);
  static std::array<float, 64> y, expected;
  std::size_t i = 0;
  for (std::int32_t row = 0; row < p.rows; ++row)
    for (std::int32_t o = 0; o < p.out_features; ++o) {
      volatile float sum = 0;
      for (std::int32_t g = 0; g < p.groups; ++g) {
        const std::int64_t exact = linear_sum(b, row * p.in_features, o * p.in_features, g * n, n, p.input_zero_point);
        const volatile float product =
            static_cast<float>(exact + planted_error) * b.scales[static_cast<std::size_t>(g * p.out_features + o)];
        sum = sum + product;
      }
      sum = sum * p.input_scale;
      if (bias != nullptr) sum = sum + bias[o];
      b.expected[i] = quantized<T>(sum, p.to);
      expected[i++] = sum;
    }
  y.fill(55.0f);
  with_weights(b, halves, [&](const auto* weights) {
    group_linear<Isa>(b.x.data(), weights, b.scales.data(), bias, b.y.data(), p);
    group_linear<Isa>(b.x.data(), weights, b.scales.data(), bias, y.data(), p);
  });
  return std::memcmp(b.y.data(), b.expected.data(), i) == 0 && b.y[i] == T(55) &&
         std::memcmp(y.data(), expected.data(), i * sizeof(float)) == 0 && (i == y.size() || y[i] == 55.0f);
}

/// Sums, products, function values and copies of random bytes; an operand may be one element.
template <class Isa, class T>
[[nodiscard]] bool elementwise_case(Buffers<T>& b, std::uint32_t seed) noexcept {
  Random random(seed);
  fill_random(b, random);
  const std::int32_t n = random.in(1, 90);
  const auto count = static_cast<std::size_t>(n);
  const T* const left = b.x.data();
  const T* const right = left + n;
  const auto signed_of = [](T v) {
    return std::int64_t{static_cast<std::int8_t>(static_cast<std::uint8_t>(v) ^ flip<T>)};
  };
  const auto is_expected = [&](auto&& of) {
    for (std::int32_t i = 0; i < n; ++i) b.expected[static_cast<std::size_t>(i)] = of(i);
    const bool good = std::memcmp(b.y.data(), b.expected.data(), count) == 0 && b.y[count] == T(55);
    b.y.fill(T(55));
    return good;
  };
  const auto clamped = [](std::int64_t v, const auto& p) {
    return static_cast<T>(static_cast<std::uint8_t>(v < p.low ? p.low : v > p.high ? p.high : v) ^ flip<T>);
  };
  Mul m{.count = n, .a_step = random.in(0, 1), .b_step = random.in(0, 1)};
  m.a_zero_point = random.in(-128, 127), m.b_zero_point = random.in(-128, 127);
  m.output_zero_point = random.in(-128, 127);
  m.multiplier = random.in(1 << 20, 1 << 30), m.shift = random.in(0, 8);
  m.low = random.in(-128, 0), m.high = random.in(1, 127);
  mul<Isa>(left, right, b.y.data(), m);
  if (!is_expected([&](std::int32_t i) {
        const std::int64_t product = (signed_of(left[i * m.a_step]) - m.a_zero_point) *
                                     (signed_of(right[i * m.b_step]) - m.b_zero_point) * (std::int64_t{1} << m.shift);
        return clamped(((product * m.multiplier + (std::int64_t{1} << 31)) >> 32) + m.output_zero_point, m);
      }))
    return false;
  Add s{.count = n, .a_step = m.a_step, .b_step = m.b_step};
  s.a_multiplier = random.in(0, 1 << 20), s.b_multiplier = random.in(0, 1 << 20);
  s.initial = random.in(-(1 << 28), 1 << 28), s.shift = random.in(8, 23);
  s.low = m.low, s.high = m.high;
  add<Isa>(left, right, b.y.data(), s);
  if (!is_expected([&](std::int32_t i) {
        return clamped((s.initial + signed_of(left[i * s.a_step]) * s.a_multiplier +
                        signed_of(right[i * s.b_step]) * s.b_multiplier) >>
                           s.shift,
                       s);
      }))
    return false;
  lookup(left, b.weights.data(), b.y.data(), n);
  if (!is_expected([&](std::int32_t i) {
        return static_cast<T>(b.weights[static_cast<std::size_t>(static_cast<std::uint8_t>(left[i]))]);
      }))
    return false;
  copy_blocks(left, b.y.data(), {.count = 1, .block = n});
  return is_expected([&](std::int32_t i) { return left[i]; });
}

/// The seed of the first case that fails, or 0.
template <class Isa, class T>
[[nodiscard]] std::uint32_t first_failure(Buffers<T>& b, std::uint32_t count) noexcept {
  for (std::uint32_t seed = 1; seed <= count; ++seed) {
    const bool good = conv_case<Isa>(b, seed, ConvKind::general) && conv_case<Isa>(b, seed, ConvKind::pointwise) &&
                      conv_case<Isa>(b, seed, ConvKind::depthwise) && linear_case<Isa>(b, seed) &&
                      group_linear_case<Isa>(b, seed) && elementwise_case<Isa>(b, seed);
    if (!good) return seed;
  }
  return 0;
}

}  // namespace davit::int8_cases
