// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/windows/col2im.hpp"
#include "davit/backends/portable/run_time/windows/grid_sampler.hpp"
#include "davit/backends/portable/run_time/windows/upsample.hpp"
#include "davit/backends/portable/run_time/windows/vision.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable vision_table = table_of<OperatorGroup::vision, [] {
  return joined_rows(col2im_ops, grid_sampler_ops, upsample_ops, vision_ops);
}>();

}  // namespace davit::portable_kernels
