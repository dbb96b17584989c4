// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/products/attention.hpp"
#include "davit/backends/portable/run_time/products/convolution.hpp"
#include "davit/backends/portable/run_time/products/distance.hpp"
#include "davit/backends/portable/run_time/products/linear_algebra.hpp"
#include "davit/backends/portable/run_time/products/matmul.hpp"
#include "davit/backends/portable/run_time/products/recurrent.hpp"

namespace davit::portable_kernels {

OpGroup product_group() noexcept {
  static constexpr auto ops = sorted_ops(attention_ops, convolution_ops, distance_ops,
                                         taking_complex(linear_algebra_ops), matmul_ops, recurrent_ops);
  static_assert(ops.are_distinct(), "an operator stands twice in these families");
  return ops.group();
}

}  // namespace davit::portable_kernels
