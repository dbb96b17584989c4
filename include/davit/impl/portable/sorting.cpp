// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/reductions/scans.hpp"
#include "davit/backends/portable/run_time/reductions/sorting.hpp"
#include "davit/backends/portable/run_time/reductions/unique.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable sorting_table =
    table_of<OperatorGroup::sorting, [] { return joined_rows(scan_ops, sorting_ops, unique_ops); }>();

}  // namespace davit::portable_kernels
