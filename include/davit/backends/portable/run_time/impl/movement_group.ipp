// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/run_time/complex.hpp"
#include "davit/backends/portable/run_time/embedding_backward.hpp"
#include "davit/backends/portable/run_time/embedding_bag.hpp"
#include "davit/backends/portable/run_time/indexing.hpp"
#include "davit/backends/portable/run_time/joining.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/padding.hpp"
#include "davit/backends/portable/run_time/quantized.hpp"
#include "davit/backends/portable/run_time/roll.hpp"
#include "davit/backends/portable/run_time/scatter.hpp"
#include "davit/backends/portable/run_time/scatter_reduce.hpp"
#include "davit/backends/portable/run_time/slice_scatter.hpp"
#include "davit/backends/portable/run_time/slicing.hpp"
#include "davit/backends/portable/run_time/symbolic.hpp"
#include "davit/backends/portable/run_time/views.hpp"

namespace davit::portable_kernels {

DAVIT_INLINE OpGroup movement_group() noexcept {
  static constexpr auto ops =
      sorted_ops(taking_complex(complex_ops), embedding_backward_ops, embedding_bag_ops, taking_complex(indexing_ops),
                 taking_complex(joining_ops), taking_complex(padding_ops), quantized_ops, taking_complex(roll_ops),
                 taking_complex(scatter_ops), scatter_reduce_ops, taking_complex(slice_scatter_ops),
                 taking_complex(slicing_ops), taking_complex(symbolic_ops), taking_complex(view_ops));
  static_assert(ops.are_distinct(), "an operator stands twice in these families");
  return ops.group();
}

}  // namespace davit::portable_kernels
