// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/backends/portable/run_time/int8_plan.hpp"
#include "davit/backends/portable/run_time/kernel_step.hpp"
#include "davit/backends/portable/run_time/products/byte_products.hpp"
#include "davit/backends/xnnpack/planner.hpp"

namespace davit::xnnpack_parts {

/// Adds a step on bytes, of fixed sizes, in place of a quantize and what it is of: portable's kernel.
inline void emit_bytes(Planner& p, portable_kernels::Int8Step& joined) {
  using namespace portable_kernels;
  const ValueId made = p.calls().call(joined.quantize).output();
  const std::size_t rank = p.rank(made);
  const DimOrder last = DimOrder::channels_last(rank);
  const bool images =
      rank > 2 && (joined.is_sum() ? p.plan.slots[p.raw(joined.first)].order == last : !joined.product.of_rows);
  const DimOrder order = images ? last : DimOrder::row_major(rank);
  joined.layout = images ? ByteLayout::channels_last : ByteLayout::row_major;
  const auto tensor = [&](ValueId v) {
    KernelTensor t{{}, p.graph().values[v].dtype, images};
    for (const Dim& d : p.dims(v)) t.sizes.push_back(d.value);
    return t;
  };
  Step step{.op = Op::kernel, .weights = static_cast<std::uint32_t>(p.plan.kernels.size())};
  std::vector<KernelTensor> operands{tensor(joined.first)};
  step.in[0] = p.need_raw(joined.first, order);
  if (joined.is_sum()) {
    operands.push_back(tensor(joined.second));
    step.in[1] = p.need_raw(joined.second, order);
  } else {
    for (std::size_t i = 0; i < 2; ++i) {
      const Dim count{.value = joined.constants[i].numel()};
      operands.push_back({joined.constants[i].sizes, joined.constants[i].dtype});
      step.in[i + 1] = p.constant_slot(std::move(joined.constants[i]), {&count, 1}, DimOrder::row_major(1));
    }
  }
  p.plan.kernels.push_back(
      own_kernel_step(joined.is_sum() ? byte_sum : byte_product, operands, joined.numbers(), tensor(made)));
  step.out = p.define(made, order);
  p.add(step, joined.node);
}

}  // namespace davit::xnnpack_parts
