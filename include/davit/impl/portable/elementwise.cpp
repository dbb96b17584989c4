// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/elementwise/unary.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable float_elementwise_table = table_of<OperatorGroup::float_inference, [] {
  return joined_rows(elementwise_binary_ops, elementwise_unary_ops);
}>();

}  // namespace davit::portable_kernels
