// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/create_product.hpp"
#include "davit/backends/xnnpack/setup_operator.hpp"

namespace davit::xnnpack_parts {

/// Products with a matrix that is not constant: it is packed at every call.
[[nodiscard]] inline bool run_product(const Plan& plan, const Workspace& ws, const Step& step, pthreadpool_t pool) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  const std::size_t in = static_cast<std::size_t>(x.last());
  const std::size_t columns = static_cast<std::size_t>(out.last());
  const auto batches = static_cast<std::size_t>(step.op == Op::batch_matmul ? x.sizes[0] : 1);
  const std::size_t rows = static_cast<std::size_t>(x.rows()) / std::max<std::size_t>(batches, 1);
  const auto* a = reinterpret_cast<const float*>(address(plan, ws, step.in[0]));
  const auto* b = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
  const auto* bias = reinterpret_cast<const float*>(address(plan, ws, step.in[2]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  if (in == 0) return false;
  for (std::size_t i = 0; i < batches; ++i) {
    xnn_operator_t made = nullptr;
    const xnn_status status =
        xnn_create_fully_connected_nc_f32(in, columns, in, columns, b + i * in * columns, bias, step.min, step.max,
                                          step.transposed ? XNN_FLAG_TRANSPOSE_WEIGHTS : 0, &made);
    const Operator op(made);
    if (status != xnn_status_success ||
        xnn_setup_fully_connected_nc_f32(made, rows, a + i * rows * in, to + i * rows * columns, pool) !=
            xnn_status_success ||
        xnn_run_operator(made, pool) != xnn_status_success)
      return false;
  }
  return true;
}

[[nodiscard]] inline bool run_convolution(const Plan& plan, const Workspace& ws, const Step& step, pthreadpool_t pool) {
  xnn_operator_t made = nullptr;
  const xnn_status status = detail::create_convolution(
      plan, step, channels(plan, step.out), reinterpret_cast<const float*>(address(plan, ws, step.in[1])),
      reinterpret_cast<const float*>(address(plan, ws, step.in[2])), &made);
  const Operator op(made);
  if (status != xnn_status_success) return false;
  Step once = step;
  once.op = Op::convolution;
  return setup_operator(plan, ws, once, made, {address(plan, ws, step.in[0]), nullptr, address(plan, ws, step.out)},
                        pool) == xnn_status_success &&
         xnn_run_operator(made, pool) == xnn_status_success;
}

}  // namespace davit::xnnpack_parts
