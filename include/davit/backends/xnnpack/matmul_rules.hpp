// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/kernel_calls.hpp"
#include "davit/backends/xnnpack/quantized_rules.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/matmul.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr const char* read_matmul(const Call& call, operators::MatmulView& m) {
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

inline void emit_matmul(Planner& p, const Call& call, const operators::MatmulView& m) {
  const DimOrder order = DimOrder::row_major(p.rank(m.left));
  const bool row =
      m.addend == no_id || (p.rank(m.addend) == 1 && same_dim(p.dims(m.addend)[0], p.dims(call.output()).back()) &&
                            p.state(m.addend).constant);
  if (row && m.rank != 3 && p.rank(m.left) == 2 &&
      emit_quantized_weights(p, call, m.left, m.right, m.addend, {}, order, !m.transposed))
    return;
  if (!row || m.rank == 3 || !p.state(m.right).constant)  // XNNPACK packs constants
    return emit_kernel(p, call, KernelOrder::as_they_lie);
  const Tensor* const bias = p.constant(m.addend);
  const Clamped out = take_clamp(p, call.output());
  Step step{.op = Op::fully_connected, .min = out.bounds.low, .max = out.bounds.high};
  step.in = p.need(m.left, order, p.rank(m.left) == 2);
  step.weights = p.add_weights(
      {.kernel = *p.constant(m.right), .transposed = !m.transposed, .bias = bias == nullptr ? Tensor{} : *bias});
  step.out = p.define(out.value, order);
  p.add(step, call.id());
}

}  // namespace detail

inline constexpr auto matmul_rules = std::to_array<Rule>({
    rule<operators::MatmulView, detail::read_matmul, detail::emit_matmul>("aten.addmm.default"),
    rule<operators::MatmulView, detail::read_matmul, detail::emit_matmul>("aten.bmm.default"),
    rule<operators::MatmulView, detail::read_matmul, detail::emit_matmul>("aten.linear.default"),
    rule<operators::MatmulView, detail::read_matmul, detail::emit_matmul>("aten.mm.default"),
});

}  // namespace davit::xnnpack_parts
