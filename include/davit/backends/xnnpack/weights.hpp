// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/xnnpack/constants.hpp"
#include "davit/backends/xnnpack/plan.hpp"
#include "davit/kernels/fold_batch_norm.hpp"

namespace davit::xnnpack_parts {

/// Weights in the order of XNNPACK's create functions: [out, height, width, in] or [out, in]. Needed only for packing.
struct PackedWeights {
  std::vector<float> kernel;
  std::vector<float> bias;
  std::vector<std::int8_t> integers;
  std::vector<std::int32_t> integer_bias;
  std::vector<float> scales;
};

namespace detail {
/// The kernel as a row-major tensor, with its output dimension first and its input dimension last.
[[nodiscard]] inline Tensor output_first(const Weights& w) {
  const std::size_t rank = w.kernel.sizes.size();
  std::array<std::int64_t, max_dims> order{};
  for (std::size_t d = 0; d < rank; ++d) order[d] = static_cast<std::int64_t>(d);
  if (w.transposed) {
    std::swap(order[0], order[1]);
  } else if (rank > 2) {
    for (std::size_t d = 1; d + 1 < rank; ++d) order[d] = static_cast<std::int64_t>(d) + 1;
    order[rank - 1] = 1;
  }
  return padded_copy(permuted(w.kernel, std::span(order).first(rank)));
}
[[nodiscard]] inline float at(const Tensor& t, std::int64_t i) noexcept {
  return t.view().as<float>()[i * t.strides[0]];
}
}  // namespace detail

/// Reorders the kernel of a transposed convolution, [groups, in, out, taps], to XNNPACK's [groups, out, taps, in].
inline void turn_transposed_kernel(const float* from, std::size_t groups, std::size_t in, std::size_t out,
                                   std::size_t taps, float* to) noexcept {
  for (std::size_t g = 0; g < groups; ++g, from += in * out * taps)
    for (std::size_t o = 0; o < out; ++o)
      for (std::size_t t = 0; t < taps; ++t)
        for (std::size_t i = 0; i < in; ++i) *to++ = from[(i * out + o) * taps + t];
}

/// Packs float weights, with a batch norm after them folded in. O(weights).
[[nodiscard]] inline PackedWeights pack_float(const Weights& w, std::uint32_t groups) {
  const bool turned = w.transposed && w.kernel.sizes.size() > 2;
  const Tensor kernel = turned ? padded_copy(w.kernel) : detail::output_first(w);
  const std::int64_t out = turned ? kernel.sizes[1] * groups : kernel.sizes[0];
  const std::int64_t each = kernel.numel() / std::max<std::int64_t>(out, 1);
  PackedWeights p;
  p.kernel.assign(kernel.view().as<float>(), kernel.view().as<float>() + kernel.numel());
  if (turned) {
    const auto size = [&](std::size_t d) { return static_cast<std::size_t>(kernel.sizes[d]); };
    const std::size_t in = size(0) / groups, taps = p.kernel.size() / std::max<std::size_t>(size(0) * size(1), 1);
    turn_transposed_kernel(kernel.view().as<float>(), groups, in, size(1), taps, p.kernel.data());
  }
  if (w.bias.dtype != ScalarType::undefined || w.has_norm) p.bias.assign(static_cast<std::size_t>(out), 0.0f);
  for (std::int64_t c = 0; c < out && w.bias.dtype != ScalarType::undefined; ++c)
    p.bias[static_cast<std::size_t>(c)] = detail::at(w.bias, c);
  if (!w.has_norm) return p;
  const auto row = [out](const Tensor& t) {
    std::vector<float> values(t.dtype == ScalarType::undefined ? 0 : static_cast<std::size_t>(out));
    for (std::size_t c = 0; c < values.size(); ++c) values[c] = detail::at(t, static_cast<std::int64_t>(c));
    return values;
  };
  const std::vector<float> mean = row(w.mean), variance = row(w.variance), scale = row(w.scale), shift = row(w.shift);
  kernels::fold_batch_norm({.mean = mean.data(),
                            .variance = variance.data(),
                            .scale = scale.empty() ? nullptr : scale.data(),
                            .shift = shift.empty() ? nullptr : shift.data(),
                            .epsilon = w.eps},
                           static_cast<std::size_t>(out), static_cast<std::size_t>(each), p.kernel.data(),
                           p.bias.data());
  return p;
}

/// Packs int8 weights, with the bias in units of input scale times weight scale. O(weights).
[[nodiscard]] inline PackedWeights pack_integers(const Weights& w, const Step& step) {
  const Tensor kernel = detail::output_first(w);
  const auto out = static_cast<std::size_t>(kernel.sizes[0]);
  PackedWeights p;
  p.integers.assign(kernel.view().as<std::int8_t>(), kernel.view().as<std::int8_t>() + kernel.numel());
  p.scales.resize(out);
  p.integer_bias.resize(out);
  for (std::size_t c = 0; c < out; ++c) {
    p.scales[c] = w.kernel_scales[w.kernel_scales.size() != out ? 0 : c];
    if (w.bias.dtype == ScalarType::undefined) continue;
    const double unit = static_cast<double>(step.quantization[0].scale) * static_cast<double>(p.scales[c]);
    const double bias = std::nearbyint(static_cast<double>(detail::at(w.bias, static_cast<std::int64_t>(c))) / unit);
    p.integer_bias[c] = static_cast<std::int32_t>(std::clamp(bias, -2147483648.0, 2147483647.0));
  }
  return p;
}

}  // namespace davit::xnnpack_parts
