// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/workspace.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// An operator of two operands: their sizes in the result's order.
[[nodiscard]] inline xnn_status setup_pair(const Plan& plan, const Workspace& ws, const Step& step, xnn_operator_t op,
                                           const std::array<std::byte*, 3>& at, pthreadpool_t pool) {
  const Extent out = extent_of(plan, ws, step.out);
  std::array<std::array<std::size_t, max_dims>, 2> shape{};
  const DimOrder& order = plan.slots[step.out].order;
  for (std::size_t i = 0; i < 2; ++i) {
    const Extent e = extent_of(plan, ws, step.in[i]);
    const std::size_t shift = step.axis != 0 && e.rank == 1 ? step.axis : out.rank - e.rank;
    for (std::size_t p = 0; p < out.rank; ++p) {
      const std::size_t d = order.dim[p];
      shape[i][p] = d < shift || d >= shift + e.rank ? 1 : static_cast<std::size_t>(e.sizes[d - shift]);
    }
  }
  const auto* in = reinterpret_cast<const float*>(at[0]);
  const auto* in8 = reinterpret_cast<const std::int8_t*>(at[0]);
  auto* to = reinterpret_cast<float*>(at[2]);
  auto* to8 = reinterpret_cast<std::int8_t*>(at[2]);
  const auto* other = reinterpret_cast<const float*>(at[1]);
  const auto* other8 = reinterpret_cast<const std::int8_t*>(at[1]);
  const std::size_t n = out.rank;
  switch (step.op) {
    case Op::add: return xnn_setup_add_nd_f32(op, n, shape[0].data(), n, shape[1].data(), in, other, to, pool);
    case Op::subtract:
      return xnn_setup_subtract_nd_f32(op, n, shape[0].data(), n, shape[1].data(), in, other, to, pool);
    case Op::multiply:
      return xnn_setup_multiply_nd_f32(op, n, shape[0].data(), n, shape[1].data(), in, other, to, pool);
    case Op::divide: return xnn_setup_divide_nd_f32(op, n, shape[0].data(), n, shape[1].data(), in, other, to, pool);
    case Op::add_s8: return xnn_setup_add_nd_qs8(op, n, shape[0].data(), n, shape[1].data(), in8, other8, to8, pool);
    case Op::subtract_s8:
      return xnn_setup_subtract_nd_qs8(op, n, shape[0].data(), n, shape[1].data(), in8, other8, to8, pool);
    case Op::multiply_s8:
      return xnn_setup_multiply_nd_qs8(op, n, shape[0].data(), n, shape[1].data(), in8, other8, to8, pool);
    default: return xnn_status_invalid_state;
  }
}

}  // namespace detail

/// Points an operator at its operands, for the sizes of this run.
[[nodiscard]] inline xnn_status setup_operator(const Plan& plan, const Workspace& ws, const Step& step,
                                               xnn_operator_t op, const std::array<std::byte*, 3>& at,
                                               pthreadpool_t pool) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const auto* in = reinterpret_cast<const float*>(at[0]);
  auto* to = reinterpret_cast<float*>(at[2]);
  const auto* in8 = reinterpret_cast<const std::int8_t*>(at[0]);
  auto* to8 = reinterpret_cast<std::int8_t*>(at[2]);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  // an image from its logical sizes: [batch, channels, (height,) width], or [batch, channels] as images of one element
  const std::size_t batch = size(x.sizes.empty() ? 1 : x.sizes[0]);
  const std::size_t height = x.rank == 4 ? size(x.sizes[2]) : 1;
  const std::size_t width = x.rank >= 3 ? size(x.sizes[x.rank - 1]) : 1;
  const std::size_t rows = is_flat(plan, step) ? size(x.count) : size(x.rows());
  switch (step.op) {
    case Op::convolution:
      // one long row instead of many images where every element is on its own
      if (x.rank > 4) return xnn_setup_convolution2d_nhwc_f32(op, 1, 1, size(x.rows()), in, to, pool);
      return xnn_setup_convolution2d_nhwc_f32(op, batch, height, width, in, to, pool);
    case Op::transposed_convolution:
      return xnn_setup_deconvolution2d_nhwc_f32(op, batch, height, width, step.window.output_padding[0], step.window.output_padding[1], in, to, pool);
    case Op::quantized_convolution: return xnn_setup_convolution2d_nhwc_qc8(op, batch, height, width, in8, to8, pool);
    case Op::fully_connected: return xnn_setup_fully_connected_nc_f32(op, size(x.rows()), in, to, pool);
    case Op::max_pool: return xnn_setup_max_pooling2d_nhwc_f32(op, batch, height, width, in, to, pool);
    case Op::max_pool_s8: return xnn_setup_max_pooling2d_nhwc_s8(op, batch, height, width, in8, to8, pool);
    case Op::average_pool: return xnn_setup_average_pooling2d_nhwc_f32(op, batch, height, width, in, to, pool);
    case Op::global_average_pool:
    case Op::global_average_pool_s8: {
      std::size_t outer = 1;
      std::size_t averaged = 1;
      for (std::size_t p = 0; p < step.axis; ++p) outer *= size(x.physical[p]);
      for (std::size_t p = step.axis; p < step.axis + step.axes; ++p) averaged *= size(x.physical[p]);
      if (step.op == Op::global_average_pool)
        return xnn_setup_global_average_pooling_nwc_f32(op, outer, averaged, in, to, pool);
      return xnn_setup_global_average_pooling_nwc_qs8(op, outer, averaged, in8, to8, pool);
    }
    case Op::abs: return xnn_setup_abs_nc_f32(op, rows, in, to, pool);
    case Op::ceil: return xnn_setup_ceiling_nc_f32(op, rows, in, to, pool);
    case Op::floor: return xnn_setup_floor_nc_f32(op, rows, in, to, pool);
    case Op::negate: return xnn_setup_negate_nc_f32(op, rows, in, to, pool);
    case Op::round: return xnn_setup_bankers_rounding_nc_f32(op, rows, in, to, pool);
    case Op::trunc: return xnn_setup_truncation_nc_f32(op, rows, in, to, pool);
    case Op::square: return xnn_setup_square_nc_f32(op, rows, in, to, pool);
    case Op::square_root: return xnn_setup_square_root_nc_f32(op, rows, in, to, pool);
    case Op::hardswish: return xnn_setup_hardswish_nc_f32(op, rows, in, to, pool);
    case Op::leaky_relu: return xnn_setup_leaky_relu_nc_f32(op, rows, in, to, pool);
    case Op::elu: return xnn_setup_elu_nc_f32(op, rows, in, to, pool);
    case Op::dequantize: return xnn_setup_convert_nc_qs8_f32(op, rows, in8, to, pool);
    default: return detail::setup_pair(plan, ws, step, op, at, pool);
  }
}

}  // namespace davit::xnnpack_parts
