// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/copies.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable random_table = table_of<OperatorGroup::random, [] { return joined_rows(copy_ops); }>();

}  // namespace davit::portable_kernels
