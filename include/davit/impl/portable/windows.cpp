// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/windows/adaptive_avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/max_pool.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable float_windows_table = table_of<OperatorGroup::float_inference, [] {
  return joined_rows(adaptive_avg_pool_ops, avg_pool_ops, max_pool_ops);
}>();

}  // namespace davit::portable_kernels
