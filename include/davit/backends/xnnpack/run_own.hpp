// SPDX-License-Identifier: MIT
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/map_kernel.hpp"
#include "davit/backends/xnnpack/row_kernels.hpp"
#include "davit/backends/xnnpack/run_combine.hpp"
#include "davit/backends/xnnpack/run_copy.hpp"
#include "davit/backends/xnnpack/run_product.hpp"

namespace davit::xnnpack_parts {

inline void run_dequantize_channels(const Plan& plan, const Workspace& ws, const Step& step) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const auto* from = reinterpret_cast<const std::int8_t*>(address(plan, ws, step.in[0]));
  const auto* scales = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
  const auto* zeros = reinterpret_cast<const std::int64_t*>(address(plan, ws, step.in[2]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  std::int64_t inner = 1;
  for (std::size_t d = step.axis + 1; d < x.rank; ++d) inner *= x.sizes[d];
  for (std::int64_t i = 0; i < x.count; ++i) {
    const std::int64_t c = i / inner % x.sizes[step.axis];
    to[i] = static_cast<float>(from[i] - zeros[c]) * scales[c];
  }
}
/// A step that davit computes itself; false if XNNPACK refuses a part of it.
[[nodiscard]] inline bool run_own(const Plan& plan, const Workspace& ws, const Step& step, pthreadpool_t pool) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const auto* from = reinterpret_cast<const float*>(address(plan, ws, step.in[0]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  switch (step.op) {
    case Op::copy: run_copy(plan, ws, step); return true;
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::maximum:
    case Op::minimum: run_combine(plan, ws, step, pool); return true;
    case Op::pad: run_pad(plan, ws, step); return true;
    case Op::dequantize_channels: run_dequantize_channels(plan, ws, step); return true;
    case Op::batch_matmul:
    case Op::dynamic_fully_connected: return run_product(plan, ws, step, pool);
    case Op::dynamic_convolution: return run_convolution(plan, ws, step, pool);
    case Op::log_softmax: log_softmax_rows(from, to, x.rows(), x.last()); return true;
    case Op::layer_norm: {
      std::int64_t columns = 1;
      for (std::size_t d = x.rank - step.axes; d < x.rank; ++d) columns *= x.sizes[d];
      const auto* weight = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
      const auto* bias = reinterpret_cast<const float*>(address(plan, ws, step.in[2]));
      for_stretches(pool, static_cast<std::size_t>(x.count / columns), static_cast<std::size_t>(4096 / columns + 1),
                    [&](std::size_t first, std::size_t count) {
                      const std::int64_t at = static_cast<std::int64_t>(first) * columns;
                      layer_norm_rows(from + at, weight, bias, step.alpha, to + at, static_cast<std::int64_t>(count),
                                      columns);
                    });
      return true;
    }
    default:
      for_stretches(pool, static_cast<std::size_t>(x.count), 4096, [&](std::size_t first, std::size_t count) {
        map_elements(step.op, step.min, step.max, from + first, to + first, static_cast<std::int64_t>(count));
      });
      return true;
  }
}

}  // namespace davit::xnnpack_parts
