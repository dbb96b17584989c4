// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/products/recurrent.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable recurrent_table =
    table_of<OperatorGroup::recurrent, [] { return joined_rows(recurrent_ops); }>();

}  // namespace davit::portable_kernels
