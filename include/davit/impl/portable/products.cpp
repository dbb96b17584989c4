// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/products/attention.hpp"
#include "davit/backends/portable/run_time/products/convolution.hpp"
#include "davit/backends/portable/run_time/products/matmul.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

constinit const OpTable float_products_table =
    table_of<OperatorGroup::float_inference, [] { return joined_rows(attention_ops, convolution_ops, matmul_ops); }>();

}  // namespace davit::portable_kernels
