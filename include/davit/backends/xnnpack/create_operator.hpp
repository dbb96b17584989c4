// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backends/xnnpack/constants.hpp"
#include "davit/backends/xnnpack/library.hpp"
#include "davit/backends/xnnpack/plan.hpp"
#include "davit/backends/xnnpack/workspace.hpp"
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

struct DeleteOperator {
  void operator()(xnn_operator* op) const noexcept { (void)xnn_delete_operator(op); }
};
using Operator = std::unique_ptr<xnn_operator, DeleteOperator>;

/// An operator for some of a step's output channels, and the place of these channels.
struct OperatorPart {
  Operator op;
  std::size_t offset = 0;  ///< bytes
  Scratch work{};          ///< requested by the library
};

[[nodiscard]] inline std::string_view name_of(xnn_status status) noexcept {
  switch (status) {
    case xnn_status_success: return "no operator";
    case xnn_status_uninitialized: return "the library is not initialized";
    case xnn_status_invalid_parameter: return "invalid parameter";
    case xnn_status_unsupported_parameter: return "unsupported parameter";
    case xnn_status_unsupported_hardware: return "unsupported hardware";
    case xnn_status_out_of_memory: return "out of memory";
    default: return "failed";
  }
}

namespace detail {

[[nodiscard]] constexpr std::int8_t byte(std::int32_t v) noexcept { return static_cast<std::int8_t>(v); }

/// True if the kernel has every channel of the step's operands, and the bias, if any, has one element per output
/// channel. XNNPACK does not check this, and a graph may be inconsistent.
[[nodiscard]] inline bool weights_fit(const Plan& plan, const Step& step, std::size_t kernel,
                                      std::size_t bias) noexcept {
  const Window& w = step.window;
  const std::size_t in = channels(plan, step.in);
  const std::size_t out = channels(plan, step.out);
  const std::size_t taps = std::size_t{w.kernel[0]} * w.kernel[1] * (in / w.groups);
  return in % w.groups == 0 && out % w.groups == 0 && taps != 0 && kernel / taps == out && kernel % taps == 0 &&
         (bias == 0 || bias == out);
}

[[nodiscard]] inline library::Pixels pixels_of(const Plan& plan, const Step& step) noexcept {
  return {channels(plan, step.in), pitch(plan, step.in), pitch(plan, step.out)};
}

/// XNNPACK reads all weights for every few rows of the input: weights larger than the cache are split into parts that
/// fit, each for some output channels.
inline constexpr std::size_t cached_weights = 512 * 1024;
/// The number of output channels that every version computes at once on CPUs with 512-bit vectors: 16 in 2022, 32 in
/// 2024. Fewer are padded.
inline constexpr std::size_t whole_columns = 32;

inline constexpr std::uint32_t no_flags = 0;

[[nodiscard]] inline xnn_status create_convolution(const Plan& plan, const Step& step, std::size_t out,
                                                   const float* kernel, const float* bias, xnn_operator_t* op) {
  const Window& w = step.window;
  const std::size_t in = channels(plan, step.in);
  if (step.op == Op::transposed_convolution)
    return library::create<library::TransposedConvolution>(
        op, w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
        w.dilation[0], w.dilation[1], w.groups, in / w.groups, out / w.groups, pitch(plan, step.in),
        pitch(plan, step.out), kernel, bias, step.min, step.max, no_flags);
  return library::create<library::Convolution>(op, w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0],
                                               w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
                                               w.groups, in / w.groups, out / w.groups, pitch(plan, step.in),
                                               pitch(plan, step.out), kernel, bias, step.min, step.max, no_flags);
}

[[nodiscard]] inline xnn_status create_convolution_qs8(const Plan& plan, const Step& step, const PackedWeights& p,
                                                       xnn_operator_t* op) {
  const Window& w = step.window;
  const std::size_t in = channels(plan, step.in);
  const std::size_t out = channels(plan, step.out);
  const auto& q = step.quantization;
  if (!weights_fit(plan, step, p.integers.size(), p.integer_bias.size()) || p.scales.size() != out)
    return xnn_status_invalid_parameter;
  return library::create<library::QuantizedConvolution>(
      op, w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
      w.dilation[0], w.dilation[1], w.groups, in / w.groups, out / w.groups, pitch(plan, step.in),
      pitch(plan, step.out), byte(q[0].zero_point), q[0].scale, p.scales.data(), p.integers.data(),
      p.integer_bias.data(), byte(q[1].zero_point), q[1].scale, byte(step.low), byte(step.high), no_flags);
}

/// Creates a float convolution or product with constant weights.
[[nodiscard]] inline xnn_status create_product(const Plan& plan, const Step& step, std::vector<OperatorPart>& parts) {
  const PackedWeights p = pack_float(plan.weights[step.weights], step.window.groups);
  if (!weights_fit(plan, step, p.kernel.size(), p.bias.size())) return xnn_status_invalid_parameter;
  const bool dense = step.op == Op::fully_connected;
  const std::size_t out = channels(plan, step.out);
  const std::size_t each = p.kernel.size() / out;
  std::size_t count = out;
  const std::span<const Dim> sizes = plan.sizes(step.out);
  const bool few_rows =
      dense && (sizes.size() < 2 || (sizes.size() == 2 && sizes[0].is_static() && sizes[0].value <= 8));
  if (step.op != Op::transposed_convolution && step.window.groups == 1 && !few_rows &&
      out * each * sizeof(float) > 2 * cached_weights)
    count = std::max(cached_weights / (each * sizeof(float)) / whole_columns * whole_columns, whole_columns);
  for (std::size_t first = 0; first < out; first += count) {
    const std::size_t some = std::min(count, out - first);
    const float* kernel = p.kernel.data() + first * each;
    const float* bias = p.bias.empty() ? nullptr : p.bias.data() + first;
    xnn_operator_t made = nullptr;
    const xnn_status status = dense ? library::create<library::FullyConnected>(
                                          &made, channels(plan, step.in), some, pitch(plan, step.in),
                                          pitch(plan, step.out), kernel, bias, step.min, step.max, no_flags)
                                    : create_convolution(plan, step, some, kernel, bias, &made);
    if (status != xnn_status_success) return status;
    parts.push_back({.op = Operator(made), .offset = first * sizeof(float)});
  }
  return xnn_status_success;
}

[[nodiscard]] inline xnn_status create_one(const Plan& plan, const Step& step, xnn_operator_t* op) {
  const Window& w = step.window;
  const library::Pixels pixels = pixels_of(plan, step);
  const auto create_pool = [&]<class Functions>(Functions, auto min, auto max, auto... dilation) {
    return library::create_pool<Functions>(op, pixels, min, max, w.padding[0], w.padding[1], w.padding[2], w.padding[3],
                                           w.kernel[0], w.kernel[1], w.stride[0], w.stride[1], dilation...);
  };
  switch (step.op) {
    case Op::quantized_convolution:
      return create_convolution_qs8(plan, step, pack_integers(plan.weights[step.weights], step), op);
    case Op::max_pool: return create_pool(library::MaxPool{}, step.min, step.max, w.dilation[0], w.dilation[1]);
    case Op::max_pool_s8:
      return create_pool(library::MaxPoolOfBytes{}, byte(-128), byte(127), w.dilation[0], w.dilation[1]);
    case Op::average_pool: return create_pool(library::AveragePool{}, step.min, step.max);
    default: return xnn_status_invalid_state;
  }
}

}  // namespace detail

/// Creates the operators of a step, with packed weights.
[[nodiscard]] inline xnn_status create_operators(const Plan& plan, const Step& step, std::vector<OperatorPart>& parts) {
  if (step.op == Op::convolution || step.op == Op::transposed_convolution || step.op == Op::fully_connected)
    return detail::create_product(plan, step, parts);
  xnn_operator_t made = nullptr;
  const xnn_status status = detail::create_one(plan, step, &made);
  parts.push_back({.op = Operator(made)});
  return made == nullptr && status == xnn_status_success ? xnn_status_invalid_state : status;
}

}  // namespace davit::xnnpack_parts
