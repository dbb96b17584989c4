// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/run_time/elementwise/fourier.hpp"
#include "davit/backends/portable/run_time/elementwise/quantized.hpp"
#include "davit/backends/portable/run_time/elementwise/symbolic.hpp"
#include "davit/backends/portable/run_time/movement/embedding_backward.hpp"
#include "davit/backends/portable/run_time/movement/embedding_bag.hpp"
#include "davit/backends/portable/run_time/movement/indexing.hpp"
#include "davit/backends/portable/run_time/movement/joining.hpp"
#include "davit/backends/portable/run_time/movement/padding.hpp"
#include "davit/backends/portable/run_time/movement/roll.hpp"
#include "davit/backends/portable/run_time/movement/scatter.hpp"
#include "davit/backends/portable/run_time/movement/scatter_reduce.hpp"
#include "davit/backends/portable/run_time/movement/slice_scatter.hpp"
#include "davit/backends/portable/run_time/movement/slicing.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"

namespace davit::portable_kernels {

OpGroup movement_group() noexcept {
  static constexpr auto ops = sorted_ops(
      embedding_backward_ops, embedding_bag_ops, taking_complex(fourier_ops), taking_complex(indexing_ops),
      taking_complex(joining_ops), taking_complex(padding_ops), quantized_ops, real_indexing_ops,
      taking_complex(roll_ops), taking_complex(scatter_ops), scatter_reduce_ops, taking_complex(slice_scatter_ops),
      taking_complex(slicing_ops), taking_complex(symbolic_ops), taking_complex(view_ops));
  static_assert(ops.are_distinct(), "an operator stands twice in these families");
  return ops.group();
}

}  // namespace davit::portable_kernels
