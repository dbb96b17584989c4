// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable/run_time/elementwise/copies.hpp"
#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/elementwise/complex.hpp"
#include "davit/backends/portable/run_time/elementwise/unary.hpp"
#include "davit/backends/portable/run_time/elementwise/in_place.hpp"
#include "davit/backends/portable/run_time/elementwise/special.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"

namespace davit::portable_kernels {

OpGroup elementwise_group() noexcept {
  static constexpr auto ops = sorted_ops(taking_complex(complex_ops), taking_complex(copy_ops), elementwise_binary_ops,
                                         elementwise_unary_ops, elementwise_special_ops, taking_complex(in_place_ops));
  static_assert(ops.are_distinct(), "an operator stands twice in these families");
  return ops.group();
}

}  // namespace davit::portable_kernels
