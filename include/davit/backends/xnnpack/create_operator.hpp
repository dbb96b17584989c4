// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/xnnpack/create_product.hpp"

namespace davit::xnnpack_parts {

namespace detail {

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
    case Op::softmax: {
      const std::size_t ch = channels(plan, step.in[0]);
      return xnn_create_softmax_nc_f32(ch, pitch(plan, step.in[0]), pitch(plan, step.out), 0, op);
    }
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
    case Op::quantize:
      return xnn_create_convert_nc_f32_qs8(c, is, os, q[2].scale, byte(q[2].zero_point), byte(step.low),
                                           byte(step.high), 0, op);
    case Op::dequantize: return xnn_create_convert_nc_qs8_f32(c, is, os, q[0].scale, byte(q[0].zero_point), 0, op);
    default: return xnn_status_invalid_state;
  }
}

}  // namespace detail

/// Makes the operators of a step, their weights packed.
[[nodiscard]] inline xnn_status create_operators(const Plan& plan, const Step& step, std::vector<OperatorPart>& parts) {
  if (step.op == Op::convolution || step.op == Op::fully_connected) return detail::create_product(plan, step, parts);
  xnn_operator_t made = nullptr;
  const xnn_status status = detail::create_one(plan, step, &made);
  parts.emplace_back(Operator(made));
  return made == nullptr && status == xnn_status_success ? xnn_status_invalid_state : status;
}

}  // namespace davit::xnnpack_parts
