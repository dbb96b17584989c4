// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/reductions/batch_norm.hpp"
#include "davit/backends/portable/run_time/reductions/group_norm.hpp"
#include "davit/backends/portable/run_time/reductions/layer_norm.hpp"
#include "davit/backends/portable/run_time/reductions/reductions.hpp"
#include "davit/backends/portable/run_time/reductions/scans.hpp"
#include "davit/backends/portable/run_time/reductions/softmax.hpp"
#include "davit/backends/portable/run_time/reductions/sorting.hpp"
#include "davit/backends/portable/run_time/reductions/unique.hpp"

namespace davit::portable_kernels {

OpGroup reduction_group() noexcept {
  static constexpr auto ops = sorted_ops(batch_norm_ops, group_norm_ops, layer_norm_ops, reduction_ops, scan_ops,
                                         softmax_ops, sorting_ops, unique_ops);
  static_assert(ops.are_distinct(), "an operator stands twice in these families");
  return ops.group();
}

}  // namespace davit::portable_kernels
