// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "davit/backends/xnnpack/pool_window.hpp"
#include "davit/backends/xnnpack/rule.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr const char* refuses_max_pool(const Call& call) noexcept {
  if (const char* reason = refuses_image(call)) return reason;
  if (!pool_window(call)) return "a window of one element, or one that is not made of literal numbers";
  if (call.outputs() > 1 && is_used(call.graph(), call.output(1))) return "the indices of the maxima are used";
  return nullptr;
}
inline void emit_max_pool(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const DimOrder order = DimOrder::channels_last(4);
  Step step{.op = Op::max_pool, .window = *pool_window(call)};
  if (p.state(x).dequantized) {  // the largest integer is the largest number
    step.op = Op::max_pool_s8;
    step.in[0] = p.need_raw(x, order);
    step.out = p.temporary(p.dims(call.output()), order, ScalarType::int8);
    p.add(step, call.id());
    p.state(call.output()).dequantized = true;
    p.state(call.output()).quantization = p.state(x).quantization;
    return p.alias(call.output(), step.out, order);
  }
  const Clamped out = take_clamp(p, call.output());
  step.min = out.bounds.low;
  step.max = out.bounds.high;
  step.in[0] = p.need(x, order, true);
  step.out = p.define(out.value, order, true);
  p.add(step, call.id());
}

[[nodiscard]] constexpr const char* refuses_average_pool(const Call& call) noexcept {
  if (const char* reason = refuses_image(call)) return reason;
  const std::optional<Window> w = pool_window(call);
  if (!w) return "a window of one element, or one that is not made of literal numbers";
  if (call.has("divisor_override")) return "a divisor of its own";
  const auto padding = call.ints<2>("padding", 0);
  const bool padded = (*padding)[0] != 0 || (*padding)[1] != 0;
  if (padded && call.flag("count_include_pad", true)) return "padding that counts";
  const bool rounds_up = w->padding[2] != w->padding[0] || w->padding[1] != w->padding[3];
  return rounds_up ? "a window that hangs over the end" : nullptr;
}
inline void emit_window(Planner& p, const Call& call, Step step) {
  const DimOrder order = DimOrder::channels_last(4);
  const Clamped out = take_clamp(p, call.output());
  step.min = out.bounds.low;
  step.max = out.bounds.high;
  step.in[0] = p.need(call.value("self"), order, true);
  step.out = p.define(out.value, order, true);
  p.add(step, call.id());
}
inline void emit_average_pool(Planner& p, const Call& call) {
  emit_window(p, call, {.op = Op::average_pool, .window = *pool_window(call)});
}

}  // namespace detail

inline constexpr auto pooling_rules = std::to_array<Rule>({
    {"aten.avg_pool2d.default", detail::refuses_average_pool, detail::emit_average_pool},
    {"aten.max_pool2d.default", detail::refuses_max_pool, detail::emit_max_pool},
    {"aten.max_pool2d_with_indices.default", detail::refuses_max_pool, detail::emit_max_pool},
});

}  // namespace davit::xnnpack_parts
