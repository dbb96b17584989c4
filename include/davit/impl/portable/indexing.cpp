// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/movement/embedding_bag.hpp"
#include "davit/backends/portable/run_time/movement/indexing.hpp"
#include "davit/backends/portable/run_time/movement/scatter.hpp"
#include "davit/backends/portable/run_time/movement/scatter_reduce.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/reductions/unique.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable indexing_table = table_of<OperatorGroup::indexing, [] {
  return joined_rows(embedding_bag_ops, taking_complex(indexing_ops), real_indexing_ops, taking_complex(scatter_ops),
                     scatter_reduce_ops, unique_ops);
}>();

}  // namespace davit::portable_kernels
