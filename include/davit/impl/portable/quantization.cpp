// SPDX-License-Identifier: MIT
#include <array>

#include "davit/backends/portable/run_time/elementwise/quantized.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/products/byte_products.hpp"
#include "davit/backends/portable/run_time/products/impl/byte_products.ipp"
#include "davit/backends/portable/run_time/products/packed_bytes.hpp"
#include "davit/backends/portable/run_time/products/packed_linear.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

// two that no program names: steps on bytes, which the compiler of portable makes
constinit const OpTable quantization_table = table_of<OperatorGroup::of_family, [] {
  return joined_rows(quantized_ops, std::to_array<OpRow>({{byte_product_name, byte_product},
                                                          {byte_sum_name, byte_sum},
                                                          {"davit.embedding_packed.default", embedding_packed},
                                                          {"davit.linear_packed.default", linear_packed},
                                                          {"davit.linear_packed_bytes.default", linear_packed_bytes}}));
}>();

}  // namespace davit::portable_kernels
