// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/quantization.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/matmul.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr const char* refuses_matmul(const Call& call) noexcept {
  operators::MatmulView m;
  if (const operators::Refusal wrong = operators::read_matmul(call.arguments(), m)) return wrong.what;
  for (const ValueId v : {m.left, m.right, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  const bool batched = m.rank == 3;
  const std::size_t rank = batched ? 3 : 2;
  if (call.rank(m.right) != rank) return "weights that are not a matrix";
  const std::size_t x_rank = call.rank(m.left);
  if (x_rank < 2) return "an operand that is not a matrix";
  if (call.rank(call.output()) != x_rank) return "a result of another rank";
  const Dim& in = call.dims(m.left)[x_rank - 1];
  if (!same_dim(in, call.dims(m.right)[m.transposed ? 1 : rank - 2])) return "dimensions that may or may not fit";
  const auto contradict = [](const Dim& a, const Dim& b) {
    return a.is_static() && b.is_static() && a.value != b.value;
  };
  bool fits = !contradict(call.dims(call.output())[x_rank - 1], call.dims(m.right)[m.transposed ? 0 : rank - 1]) &&
              !(batched && contradict(call.dims(m.left)[0], call.dims(m.right)[0]));
  for (std::size_t d = 0; d + 1 < x_rank; ++d)
    fits = fits && !contradict(call.dims(m.left)[d], call.dims(call.output())[d]);
  if (!fits) return "sizes that do not fit";
  if (!m.is_plain()) return "an alpha or beta other than 1";
  if (m.addend == no_id) return nullptr;
  if (const char* reason = refuses_tensor(call, m.addend)) return reason;
  const std::span<const Dim> bias = call.dims(m.addend);
  const std::span<const Dim> out = call.dims(call.output());
  if (bias.size() > out.size()) return "a bias that does not broadcast";
  for (std::size_t d = 0; d < bias.size(); ++d) {
    const Dim& b = bias[d];
    if (!same_dim(b, out[out.size() - bias.size() + d]) && !(b.is_static() && b.value == 1))
      return "a bias that may or may not broadcast";
  }
  return nullptr;
}

/// True if the bias is a vector with a number per column.
[[nodiscard]] inline bool is_column_bias(Planner& p, ValueId bias, const Dim& columns) {
  return p.rank(bias) == 1 && same_dim(p.dims(bias)[0], columns);
}

inline void emit_matmul(Planner& p, const Call& call) {
  operators::MatmulView m;
  if (operators::read_matmul(call.arguments(), m)) return;  // which refuses_matmul has asked
  const bool batched = m.rank == 3;
  const DimOrder order = DimOrder::row_major(p.rank(m.left));
  const Dim columns = p.dims(call.output()).back();
  const bool fused_bias = m.addend != no_id && is_column_bias(p, m.addend, columns);
  const Tensor* bias = fused_bias ? p.constant(m.addend) : nullptr;
  if (!batched && (m.addend == no_id || bias != nullptr) && p.rank(m.left) == 2 &&
      emit_quantized_weights(p, call, m.left, m.right, m.addend, {}, order, !m.transposed))
    return;
  const Tensor* kernel = batched ? nullptr : p.constant(m.right);
  const bool separate = m.addend != no_id && !(fused_bias && (bias != nullptr || kernel == nullptr));
  const Clamped out = take_clamp(p, call.output());
  Step step{.op = Op::fully_connected};
  if (!separate) {
    step.min = out.bounds.low;
    step.max = out.bounds.high;
  }
  if (kernel != nullptr) {
    step.in[0] = p.need(m.left, order, p.rank(m.left) == 2);
    step.weights =
        p.add_weights({.kernel = *kernel, .transposed = !m.transposed, .bias = bias == nullptr ? Tensor{} : *bias});
  } else {
    const std::size_t rank = p.rank(m.right);
    DimOrder swapped = DimOrder::row_major(rank);
    std::swap(swapped.dim[rank - 2], swapped.dim[rank - 1]);
    step.op = batched ? Op::batch_matmul : Op::dynamic_fully_connected;
    step.in[0] = p.need(m.left, order);
    const std::uint32_t any = p.need_dense(m.right);
    const bool is_swapped = same_order(p.dims(m.right), p.plan.slots[any].order, swapped);
    step.in[1] = p.need(m.right, is_swapped ? swapped : DimOrder::row_major(rank));
    step.transposed = m.transposed == is_swapped;
    if (m.addend != no_id && !separate) step.in[2] = p.need(m.addend, DimOrder::row_major(1));
  }
  if (!separate) {
    step.out = p.define(out.value, order);
    return p.add(step, call.id());
  }
  step.out = p.temporary(p.dims(out.value), order);
  p.add(step, call.id());
  Step sum{.op = Op::add, .min = out.bounds.low, .max = out.bounds.high};
  sum.in = {step.out, p.need(m.addend, DimOrder::row_major(p.rank(m.addend))), no_id};
  sum.out = p.define(out.value, order);
  p.add(sum, call.id());
}

}  // namespace detail

inline constexpr auto matmul_rules = std::to_array<Rule>({
    {"aten.addmm.default", detail::refuses_matmul, detail::emit_matmul},
    {"aten.bmm.default", detail::refuses_matmul, detail::emit_matmul},
    {"aten.linear.default", detail::refuses_matmul, detail::emit_matmul},
    {"aten.mm.default", detail::refuses_matmul, detail::emit_matmul},
});

}  // namespace davit::xnnpack_parts
