// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/batch_norm.hpp"
#include "davit/backends/portable/group_norm.hpp"
#include "davit/backends/portable/layer_norm.hpp"
#include "davit/backends/portable/op_group.hpp"
#include "davit/backends/portable/op_table.hpp"
#include "davit/backends/portable/reductions.hpp"
#include "davit/backends/portable/softmax.hpp"
#include "davit/backends/portable/sorting.hpp"

namespace davit::portable_kernels {

DAVIT_INLINE OpGroup reduction_group() noexcept {
  static constexpr auto ops =
      sorted_ops(batch_norm_ops, group_norm_ops, layer_norm_ops, reduction_ops, softmax_ops, sorting_ops);
  static_assert(ops.are_distinct(), "an operator stands twice in these families");
  return ops.group();
}

}  // namespace davit::portable_kernels
