// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/windows/adaptive_avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/col2im.hpp"
#include "davit/backends/portable/run_time/windows/grid_sampler.hpp"
#include "davit/backends/portable/run_time/windows/max_pool.hpp"
#include "davit/backends/portable/run_time/windows/upsample.hpp"
#include "davit/backends/portable/run_time/windows/vision.hpp"

namespace davit::portable_kernels {

OpGroup window_group() noexcept {
  static constexpr auto ops = sorted_ops(adaptive_avg_pool_ops, avg_pool_ops, col2im_ops, grid_sampler_ops,
                                         max_pool_ops, upsample_ops, vision_ops);
  static_assert(ops.are_distinct(), "an operator stands twice in these families");
  return ops.group();
}

}  // namespace davit::portable_kernels
