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

#include "davit/backends/xnnpack/weights.hpp"
#include "davit/backends/xnnpack/workspace.hpp"

namespace davit::xnnpack_parts {

struct DeleteOperator {
  void operator()(xnn_operator* op) const noexcept { (void)xnn_delete_operator(op); }
};
using Operator = std::unique_ptr<xnn_operator, DeleteOperator>;

/// An operator for some of a step's output channels, and where those lie.
struct OperatorPart {
  Operator op;
  std::size_t offset = 0;  ///< bytes
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

[[nodiscard]] constexpr std::int8_t byte(std::int32_t v) noexcept {
  return static_cast<std::int8_t>(v);
}

/// True if there is a kernel for every channel of the step's operands, and a bias if any. XNNPACK trusts them; a graph
/// may contradict itself.
[[nodiscard]] inline bool weights_fit(const Plan& plan, const Step& step, std::size_t kernel,
                                      std::size_t bias) noexcept {
  const Window& w = step.window;
  const std::size_t in = channels(plan, step.in[0]);
  const std::size_t out = channels(plan, step.out);
  const std::size_t taps = std::size_t{w.kernel[0]} * w.kernel[1] * (in / w.groups);
  return in % w.groups == 0 && out % w.groups == 0 && taps != 0 && kernel / taps == out && kernel % taps == 0 &&
         (bias == 0 || bias == out);
}

/// XNNPACK goes through all weights for every few rows of the input: weights that do not stay in the cache are cut
/// into parts that do, each for some output channels.
inline constexpr std::size_t cached_weights = 512 * 1024;

[[nodiscard]] inline xnn_status create_convolution(const Plan& plan, const Step& step, std::size_t out,
                                                   const float* kernel, const float* bias, xnn_operator_t* op) {
  const Window& w = step.window;
  const std::size_t in = channels(plan, step.in[0]);
  if (step.op == Op::transposed_convolution)
    return xnn_create_deconvolution2d_nhwc_f32(w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0],
                                               w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
                                               w.groups, in / w.groups, out / w.groups, pitch(plan, step.in[0]),
                                               pitch(plan, step.out), kernel, bias, step.min, step.max, 0, op);
  return xnn_create_convolution2d_nhwc_f32(w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0],
                                           w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
                                           w.groups, in / w.groups, out / w.groups, pitch(plan, step.in[0]),
                                           pitch(plan, step.out), kernel, bias, step.min, step.max, 0, op);
}

[[nodiscard]] inline xnn_status create_convolution_qs8(const Plan& plan, const Step& step, const PackedWeights& p,
                                                       xnn_operator_t* op) {
  const Window& w = step.window;
  const std::size_t in = channels(plan, step.in[0]);
  const std::size_t out = channels(plan, step.out);
  const auto& q = step.quantization;
  if (!weights_fit(plan, step, p.integers.size(), p.integer_bias.size()) || p.scales.size() != out)
    return xnn_status_invalid_parameter;
  return xnn_create_convolution2d_nhwc_qc8(
      w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
      w.dilation[0], w.dilation[1], w.groups, in / w.groups, out / w.groups, pitch(plan, step.in[0]),
      pitch(plan, step.out), byte(q[0].zero_point), q[0].scale, p.scales.data(), p.integers.data(),
      p.integer_bias.data(), byte(q[2].zero_point), q[2].scale, byte(step.low), byte(step.high), 0, op);
}

/// A float convolution or product with constant weights.
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
  if (step.op != Op::transposed_convolution && step.window.groups == 1 && !few_rows && out * each * sizeof(float) > 2 * cached_weights)
    count = std::max<std::size_t>(cached_weights / (each * sizeof(float)) / 16 * 16, 16);
  for (std::size_t first = 0; first < out; first += count) {
    const std::size_t some = std::min(count, out - first);
    const float* kernel = p.kernel.data() + first * each;
    const float* bias = p.bias.empty() ? nullptr : p.bias.data() + first;
    xnn_operator_t made = nullptr;
    const xnn_status status =
        dense ? xnn_create_fully_connected_nc_f32(channels(plan, step.in[0]), some, pitch(plan, step.in[0]),
                                                  pitch(plan, step.out), kernel, bias, step.min, step.max, 0, &made)
              : create_convolution(plan, step, some, kernel, bias, &made);
    if (status != xnn_status_success) return status;
    parts.push_back({Operator(made), first * sizeof(float)});
  }
  return xnn_status_success;
}

[[nodiscard]] inline xnn_status create_one(const Plan& plan, const Step& step, xnn_operator_t* op) {
  const Window& w = step.window;
  const auto& q = step.quantization;
  const bool flat = is_flat(plan, step);
  const std::size_t c = flat ? 1 : channels(plan, step.in[0]);
  const std::size_t is = flat ? 1 : pitch(plan, step.in[0]);
  const std::size_t os = flat ? 1 : pitch(plan, step.out);
  switch (step.op) {
    case Op::quantized_convolution:
      return create_convolution_qs8(plan, step, pack_integers(plan.weights[step.weights], step), op);
    case Op::max_pool:
      return xnn_create_max_pooling2d_nhwc_f32(w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0],
                                               w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
                                               channels(plan, step.in[0]), pitch(plan, step.in[0]),
                                               pitch(plan, step.out), step.min, step.max, 0, op);
    case Op::max_pool_s8:
      return xnn_create_max_pooling2d_nhwc_s8(w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0],
                                              w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
                                              channels(plan, step.in[0]), pitch(plan, step.in[0]),
                                              pitch(plan, step.out), -128, 127, 0, op);
    case Op::average_pool:
      return xnn_create_average_pooling2d_nhwc_f32(
          w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
          channels(plan, step.in[0]), pitch(plan, step.in[0]), pitch(plan, step.out), step.min, step.max, 0, op);
    case Op::global_average_pool: {
      const bool inner = step.axis + step.axes == plan.slots[step.in[0]].order.rank;
      const std::size_t ch = inner ? 1 : channels(plan, step.in[0]);
      return xnn_create_global_average_pooling_nwc_f32(ch, inner ? 1 : pitch(plan, step.in[0]), ch, step.min, step.max,
                                                       0, op);
    }
    case Op::global_average_pool_s8: {
      const std::size_t ch = channels(plan, step.in[0]);
      return xnn_create_global_average_pooling_nwc_qs8(ch, ch, ch, byte(q[0].zero_point), q[0].scale,
                                                       byte(q[2].zero_point), q[2].scale, byte(step.low),
                                                       byte(step.high), 0, op);
    }
    case Op::abs: return xnn_create_abs_nc_f32(c, is, os, 0, op);
    case Op::ceil: return xnn_create_ceiling_nc_f32(c, is, os, 0, op);
    case Op::floor: return xnn_create_floor_nc_f32(c, is, os, 0, op);
    case Op::negate: return xnn_create_negate_nc_f32(c, is, os, 0, op);
    case Op::round: return xnn_create_bankers_rounding_nc_f32(c, is, os, 0, op);
    case Op::trunc: return xnn_create_truncation_nc_f32(c, is, os, 0, op);
    case Op::square: return xnn_create_square_nc_f32(c, is, os, 0, op);
    case Op::square_root: return xnn_create_square_root_nc_f32(c, is, os, 0, op);
    case Op::hardswish: return xnn_create_hardswish_nc_f32(c, is, os, 0, op);
    case Op::leaky_relu: return xnn_create_leaky_relu_nc_f32(c, is, os, step.alpha, 0, op);
    case Op::elu: return xnn_create_elu_nc_f32(c, is, os, step.alpha, 0, op);
    case Op::add: return xnn_create_add_nd_f32(step.min, step.max, 0, op);
    case Op::subtract: return xnn_create_subtract_nd_f32(step.min, step.max, 0, op);
    case Op::multiply: return xnn_create_multiply_nd_f32(step.min, step.max, 0, op);
    case Op::divide: return xnn_create_divide_nd_f32(step.min, step.max, 0, op);
    case Op::add_s8:
    case Op::subtract_s8:
    case Op::multiply_s8: {
      const auto make = step.op == Op::add_s8        ? xnn_create_add_nd_qs8
                        : step.op == Op::subtract_s8 ? xnn_create_subtract_nd_qs8
                                                     : xnn_create_multiply_nd_qs8;
      return make(byte(q[0].zero_point), q[0].scale, byte(q[1].zero_point), q[1].scale, byte(q[2].zero_point),
                  q[2].scale, byte(step.low), byte(step.high), 0, op);
    }
    case Op::dequantize: return xnn_create_convert_nc_qs8_f32(c, is, os, q[0].scale, byte(q[0].zero_point), 0, op);
    default: return xnn_status_invalid_state;
  }
}

}  // namespace detail

/// Makes the operators of a step, their weights packed.
[[nodiscard]] inline xnn_status create_operators(const Plan& plan, const Step& step, std::vector<OperatorPart>& parts) {
  if (step.op == Op::convolution || step.op == Op::transposed_convolution || step.op == Op::fully_connected)
    return detail::create_product(plan, step, parts);
  xnn_operator_t made = nullptr;
  const xnn_status status = detail::create_one(plan, step, &made);
  parts.emplace_back(Operator(made));
  return made == nullptr && status == xnn_status_success ? xnn_status_invalid_state : status;
}

}  // namespace davit::xnnpack_parts
