// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/copies.hpp"
#include "davit/backends/portable/run_time/elementwise/in_place.hpp"
#include "davit/backends/portable/run_time/elementwise/symbolic.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/movement/joining.hpp"
#include "davit/backends/portable/run_time/movement/padding.hpp"
#include "davit/backends/portable/run_time/movement/roll.hpp"
#include "davit/backends/portable/run_time/movement/slice_scatter.hpp"
#include "davit/backends/portable/run_time/movement/slicing.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable movement_table = table_of<OperatorGroup::movement, [] {
  return joined_rows(taking_complex(copy_ops), taking_complex(in_place_ops), taking_complex(symbolic_ops),
                     taking_complex(joining_ops), taking_complex(padding_ops), taking_complex(roll_ops),
                     taking_complex(slice_scatter_ops), taking_complex(slicing_ops), taking_complex(view_ops));
}>();

}  // namespace davit::portable_kernels
