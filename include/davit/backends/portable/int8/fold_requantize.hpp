// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/portable/int8/pattern.hpp"
#include "davit/program/operators/quantization.hpp"

namespace davit::int8_fold {

/// A bias: none, a float32 constant, or numbers that lowering dequantizes (of an int32 constant).
struct Bias {
  bool good = false;
  ValueId value = no_id;
  std::vector<float> dequantized{};
  const float* constant = nullptr;  ///< the elements of `value`, if they are readable

  [[nodiscard]] constexpr bool is_readable() const noexcept { return value == no_id || constant != nullptr; }
  [[nodiscard]] constexpr float operator[](std::int64_t channel) const noexcept {
    if (constant != nullptr) return constant[channel];
    return dequantized.empty() ? 0.0f : dequantized[static_cast<std::size_t>(channel)];
  }
};

/// Reads the bias of a convolution or linear from its float value. O(channels).
[[nodiscard]] constexpr Bias bias_of(const EmbedGraph& g, ValueId v, std::int64_t channels) {
  if (v == no_id) return {.good = true};
  if (g.numel(v) != channels || g.dtype(v) != ScalarType::float32) return {};
  if (const StaticInput* constant = g.constant(v); constant != nullptr) {
    if (constant->layout != WeightLayout::contiguous) return {};
    return {.good = true, .value = v, .constant = g.elements<float>(v)};
  }
  operators::QuantizationView view;
  if (g.foldable_producer(v) == no_id || operators::read_quantization(g.call(g.foldable_producer(v)), view) ||
      view.quantizes || (view.scales != no_id && !view.per_channel))
    return {};
  const std::int32_t* const numbers = g.elements<std::int32_t>(view.input);
  const float* const scale_of = view.scales != no_id ? g.elements<float>(view.scales) : nullptr;
  if (numbers == nullptr || (view.scales != no_id && (scale_of == nullptr || g.numel(view.scales) != channels ||
                                                      !is_zero(g, view.zero_points))))
    return {};
  Bias bias{.good = true};
  for (std::int64_t c = 0; c < channels; ++c) {
    const double scale = scale_of != nullptr ? static_cast<double>(scale_of[c]) : view.scale;
    bias.dequantized.push_back(static_cast<float>((numbers[c] - static_cast<double>(view.zero_point)) * scale));
  }
  return bias;
}

/// Finds the parameters that turn sums of `taps` products into bytes. False if they do not fit, and the node is
/// computed in float. O(channels): for every channel it checks the kernels' assumption that nothing exceeds 32 bits.
[[nodiscard]] constexpr bool find_requantize(const EmbedGraph& g, const Quantized& in, const Quantized& out,
                                             const Weights& w, const Bias& bias, std::int64_t channels,
                                             std::int64_t taps, int8_kernels::Requantize& q) noexcept {
  if (in.dtype != out.dtype || !(in.scale > 0) || !(out.scale > 0) || taps > 1 << 20) return false;
  const float* const scales = w.scales != no_id ? g.elements<float>(w.scales) : nullptr;
  if (w.scales != no_id && (scales == nullptr || g.numel(w.scales) != channels)) return false;
  if (!bias.is_readable()) return false;
  const auto scale_of = [&](std::int64_t c) { return scales != nullptr ? scales[c] : static_cast<float>(w.scale); };
  double largest = 0, sum = 0, sum_of_inverses = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    const double scale = scale_of(c);
    if (!(scale > 0)) return false;
    largest = scale > largest ? scale : largest;
    sum += scale;
    sum_of_inverses += 1 / scale;
  }
  q.output_scale = static_cast<float>(out.scale);
  q.output_offset = static_cast<float>(out.zero_point) + 0.5f;
  q.input_zero_point = in.zero_point;
  q.low = out.low;
  q.high = out.high;
  const auto fits = [&](std::int64_t c) {
    const std::int64_t initial = int8_kernels::channel_of(q, scale_of(c), bias[c]).initial;
    const std::int64_t reach = ((taps * 128 * 256) << q.shift) + (initial < 0 ? -initial : initial);
    return reach <= 2147483647 && initial < 1073741000 && initial > -1073741000;
  };
  // A multiplier m rounds `initial` by up to m / 2^(33 + fraction_bits) of a step, and is itself rounded, by some 64 /
  // m of a result that is 64 steps from 0. The shift that minimizes both is tried first; fewer bits are used only if
  // sums would not fit.
  const double factor = in.scale / out.scale;
  const auto unit = [&](std::int32_t shift) {
    return factor * int8_kernels::power_of_two(32 + int8_kernels::fraction_bits - shift);
  };
  const auto rounded_off = [&](std::int32_t shift) {
    return unit(shift) * sum / static_cast<double>(int8_kernels::twice_one) + 64.0 * sum_of_inverses / unit(shift);
  };
  while (q.shift < 22 && rounded_off(q.shift + 1) < rounded_off(q.shift)) ++q.shift;
  for (; q.shift >= 0 && unit(q.shift) * largest < 2147483000.0; --q.shift) {
    q.ratio = static_cast<float>(unit(q.shift));
    std::int64_t c = 0;
    while (c < channels && fits(c)) ++c;
    if (c == channels) return true;
  }
  return false;
}

}  // namespace davit::int8_fold
