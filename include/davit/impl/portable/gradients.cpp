// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/movement/embedding_backward.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/products/convolution.hpp"
#include "davit/backends/portable/run_time/reductions/group_norm.hpp"
#include "davit/backends/portable/run_time/reductions/layer_norm.hpp"
#include "davit/backends/portable/run_time/windows/adaptive_avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/max_pool.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable gradients_table = table_of<OperatorGroup::gradients, [] {
  return joined_rows(embedding_backward_ops, convolution_ops, group_norm_ops, layer_norm_ops, adaptive_avg_pool_ops,
                     avg_pool_ops, max_pool_ops);
}>();

}  // namespace davit::portable_kernels
