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

namespace davit::xnnpack_parts {

namespace detail {

/// x times a matrix, plus a bias: the operands of linear, addmm, mm and bmm.
struct Matmul {
  ValueId x = no_id;
  ValueId w = no_id;
  ValueId bias = no_id;
  bool transposed = false;  ///< w is [in, out]
};
[[nodiscard]] constexpr Matmul matmul_of(const Call& call) noexcept {
  const std::string_view target = call.target();
  if (target == "aten.linear.default") return {call.value("input"), call.value("weight"), call.value("bias"), false};
  if (target == "aten.addmm.default") return {call.value("mat1"), call.value("mat2"), call.value("self"), true};
  return {call.value("self"), call.value("mat2"), no_id, true};
}

[[nodiscard]] constexpr const char* refuses_matmul(const Call& call) noexcept {
  const Matmul m = matmul_of(call);
  for (const ValueId v : {m.x, m.w, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  const bool batched = call.target() == "aten.bmm.default";
  const std::size_t rank = batched ? 3 : 2;
  if (call.rank(m.w) != rank) return "weights that are not a matrix";
  const std::size_t x_rank = call.rank(m.x);
  if (m.transposed ? x_rank != rank : x_rank < 2) return "an operand that is not a matrix";
  if (call.rank(call.output()) != x_rank) return "a result of another rank";
  const Dim& in = call.dims(m.x)[x_rank - 1];
  if (!same_dim(in, call.dims(m.w)[m.transposed ? rank - 2 : 1])) return "dimensions that may or may not fit";
  const auto contradict = [](const Dim& a, const Dim& b) {
    return a.is_static() && b.is_static() && a.value != b.value;
  };
  bool fits = !contradict(call.dims(call.output())[x_rank - 1], call.dims(m.w)[m.transposed ? rank - 1 : 0]) &&
              !(batched && contradict(call.dims(m.x)[0], call.dims(m.w)[0]));
  for (std::size_t d = 0; d + 1 < x_rank; ++d)
    fits = fits && !contradict(call.dims(m.x)[d], call.dims(call.output())[d]);
  if (!fits) return "sizes that do not fit";
  if (call.number("alpha", 1) != 1 || call.number("beta", 1) != 1) return "an alpha or beta other than 1";
  if (m.bias == no_id) return call.has("bias") ? "a bias that is not a tensor" : nullptr;
  if (const char* reason = refuses_tensor(call, m.bias)) return reason;
  const std::span<const Dim> bias = call.dims(m.bias);
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
  const Matmul m = matmul_of(call);
  const bool batched = call.target() == "aten.bmm.default";
  const DimOrder order = DimOrder::row_major(p.rank(m.x));
  const Dim columns = p.dims(call.output()).back();
  const bool fused_bias = m.bias != no_id && is_column_bias(p, m.bias, columns);
  const Tensor* bias = fused_bias ? p.constant(m.bias) : nullptr;
  if (!batched && (m.bias == no_id || bias != nullptr) && p.rank(m.x) == 2 &&
      emit_quantized_weights(p, call, m.x, m.w, m.bias, {}, order, m.transposed))
    return;
  const Tensor* kernel = batched ? nullptr : p.constant(m.w);
  const bool separate = m.bias != no_id && !(fused_bias && (bias != nullptr || kernel == nullptr));
  const Clamped out = take_clamp(p, call.output());
  Step step{.op = Op::fully_connected};
  if (!separate) {
    step.min = out.bounds.low;
    step.max = out.bounds.high;
  }
  if (kernel != nullptr) {
    step.in[0] = p.need(m.x, order, p.rank(m.x) == 2);
    step.weights =
        p.add_weights({.kernel = *kernel, .transposed = m.transposed, .bias = bias == nullptr ? Tensor{} : *bias});
  } else {
    const std::size_t rank = p.rank(m.w);
    DimOrder swapped = DimOrder::row_major(rank);
    std::swap(swapped.dim[rank - 2], swapped.dim[rank - 1]);
    step.op = batched ? Op::batch_matmul : Op::dynamic_fully_connected;
    step.in[0] = p.need(m.x, order);
    const std::uint32_t any = p.need_dense(m.w);
    const bool is_swapped = same_order(p.dims(m.w), p.plan.slots[any].order, swapped);
    step.in[1] = p.need(m.w, is_swapped ? swapped : DimOrder::row_major(rank));
    step.transposed = m.transposed != is_swapped;
    if (m.bias != no_id && !separate) step.in[2] = p.need(m.bias, DimOrder::row_major(1));
  }
  if (!separate) {
    step.out = p.define(out.value, order);
    return p.add(step, call.id());
  }
  step.out = p.temporary(p.dims(out.value), order);
  p.add(step, call.id());
  Step sum{.op = Op::add, .min = out.bounds.low, .max = out.bounds.high};
  sum.in = {step.out, p.need(m.bias, DimOrder::row_major(p.rank(m.bias))), no_id};
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
