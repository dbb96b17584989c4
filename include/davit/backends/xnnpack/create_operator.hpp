// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backends/xnnpack/library.hpp"
#include "davit/backends/xnnpack/weights.hpp"
#include "davit/backends/xnnpack/workspace.hpp"

namespace davit::xnnpack_parts {

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
