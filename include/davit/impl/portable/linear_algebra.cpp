// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/products/distance.hpp"
#include "davit/backends/portable/run_time/products/linear_algebra.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable linear_algebra_table = table_of<OperatorGroup::linear_algebra, [] {
  return joined_rows(distance_ops, taking_complex(linear_algebra_ops));
}>();

}  // namespace davit::portable_kernels
