// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/pooling_rules.hpp"
#include "davit/backends/xnnpack/unary_rules.hpp"
#include "davit/program/operators/reduction.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Averages over `axes` physical dimensions from `axis` on.
inline void emit_average(Planner& p, const Call& call, const DimOrder& order, const DimOrder& kept, std::uint32_t axis,
                         std::uint32_t axes) {
  const Clamped out = take_clamp(p, call.output());
  Step step{.op = Op::mean, .min = out.bounds.low, .max = out.bounds.high, .axis = axis, .axes = axes};
  step.in[0] = p.need(call.value("self"), order, axis + axes + 1 == order.rank);
  step.out = p.define(out.value, kept);
  p.add(step, call.id());
}

[[nodiscard]] constexpr const char* refuses_adaptive(const Call& call) noexcept {
  operators::AdaptivePoolView view;
  if (const operators::Refusal wrong = operators::read_adaptive_pool(call.arguments(), view)) return wrong.what;
  if (const char* reason = refuses_image(call)) return reason;
  if (view.out[1] == 1 && view.out[2] == 1) return nullptr;
  bool same = true;
  for (std::size_t d = 1; d < 3; ++d) {
    const std::int64_t in = call.fixed(view.input, d + 1);
    if (view.out[d] < 1 || in < 0 || in % view.out[d] != 0 || in / view.out[d] > 4096)
      return "windows of different sizes";
    same = same && view.out[d] == in;
  }
  return same ? "a window of one element" : nullptr;
}
inline void emit_adaptive(Planner& p, const Call& call) {
  operators::AdaptivePoolView view;
  if (operators::read_adaptive_pool(call.arguments(), view)) return;  // which refuses_adaptive has asked
  if (view.out[1] == 1 && view.out[2] == 1)
    return emit_average(p, call, DimOrder::channels_last(4), DimOrder::channels_last(4), 1, 2);
  Step step{.op = Op::average_pool};
  for (std::size_t d = 0; d < 2; ++d)
    step.window.kernel[d] = step.window.stride[d] =
        static_cast<std::uint32_t>(call.fixed(view.input, 2 + d) / view.out[d + 1]);
  emit_window(p, call, step);
}

[[nodiscard]] constexpr const char* refuses_mean(const Call& call) noexcept {
  if (const char* reason = refuses_floats(call)) return reason;
  operators::ReductionView view;
  if (const operators::Refusal wrong = operators::read_reduction(call.arguments(), view)) return wrong.what;
  if (view.converts) return "a change of dtype";
  return view.dims == 0 ? "no dimensions" : nullptr;
}
inline void emit_mean(Planner& p, const Call& call) {
  operators::ReductionView view;
  if (operators::read_reduction(call.arguments(), view)) return;  // which refuses_mean has asked
  const ValueId x = view.input;
  const std::size_t rank = p.rank(x);
  const std::uint32_t bits = view.dims;
  const bool keep = view.keepdim;
  // the kept dimensions outside, then the averaged ones, then the last kept one if its size is known
  std::size_t last = rank;
  for (std::size_t d = 0; d < rank; ++d)
    if ((bits >> d & 1) == 0 && call.fixed(x, d) > 1) last = d;
  DimOrder order;
  DimOrder kept;
  std::uint32_t axes = 0;
  const auto place = [&](std::size_t d) { order.dim[order.rank++] = static_cast<std::uint8_t>(d); };
  for (std::size_t d = 0; d < rank; ++d)
    if ((bits >> d & 1) == 0 && d != last) place(d);
  const std::uint32_t axis = order.rank;
  for (std::size_t d = 0; d < rank; ++d)
    if ((bits >> d & 1) != 0) place(d), ++axes;
  if (last < rank) place(last);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = order.dim[i];
    if ((bits >> d & 1) != 0 && !keep) continue;
    std::size_t number = d;
    for (std::size_t below = 0; below < d && !keep; ++below) number -= bits >> below & 1;
    kept.dim[kept.rank++] = static_cast<std::uint8_t>(number);
  }
  emit_average(p, call, order, kept, axis, axes);
}

}  // namespace detail

/// Averages over whole dimensions, or windows of equal size.
inline constexpr auto average_rules = std::to_array<Rule>({
    {"aten._adaptive_avg_pool2d.default", detail::refuses_adaptive, detail::emit_adaptive},
    {"aten.adaptive_avg_pool2d.default", detail::refuses_adaptive, detail::emit_adaptive},
    {"aten.mean.default", detail::refuses_mean, detail::emit_mean},
    {"aten.mean.dim", detail::refuses_mean, detail::emit_mean},
});

}  // namespace davit::xnnpack_parts
