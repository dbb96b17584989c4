// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/reductions/batch_norm.hpp"
#include "davit/backends/portable/run_time/reductions/group_norm.hpp"
#include "davit/backends/portable/run_time/reductions/layer_norm.hpp"
#include "davit/backends/portable/run_time/reductions/reductions.hpp"
#include "davit/backends/portable/run_time/reductions/softmax.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable float_reductions_table = table_of<OperatorGroup::float_inference, [] {
  return joined_rows(batch_norm_ops, group_norm_ops, layer_norm_ops, reduction_ops, softmax_ops);
}>();

}  // namespace davit::portable_kernels
