// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/pooling.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// The window of a 2d pool, with padding at the end in place of a rounded-up output size; nothing for a window of one
/// element, or if a number exceeds XNNPACK's types.
[[nodiscard]] constexpr std::optional<Window> window_of(const Call& call, const operators::PoolView& view) noexcept {
  Window w;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::size_t at = d + 1;
    if (view.kernel[at] > 4096 || view.stride[at] > 65535 || view.dilation[at] > 65535) return std::nullopt;
    w.kernel[d] = static_cast<std::uint32_t>(view.kernel[at]);
    w.stride[d] = static_cast<std::uint32_t>(view.stride[at]);
    w.dilation[d] = static_cast<std::uint32_t>(view.dilation[at]);
    const auto side = static_cast<std::uint32_t>(view.padding[at]);
    w.padding[d == 0 ? 0 : 3] = w.padding[d == 0 ? 2 : 1] = side;
    if (!view.ceil_mode) continue;
    const std::int64_t in = call.fixed(view.input, 2 + d);
    const std::int64_t out = call.fixed(call.output(), 2 + d);
    if (in < 0 || out < 1 || out > INT32_MAX) return std::nullopt;
    const std::int64_t end = view.padding_end(at, in, out);
    if (end > 65535) return std::nullopt;
    if (end > side) w.padding[d == 0 ? 2 : 1] = static_cast<std::uint32_t>(end);
  }
  return w.kernel[0] * w.kernel[1] > 1 ? std::optional(w) : std::nullopt;
}

[[nodiscard]] constexpr const char* refuses_image(const Call& call, ValueId x) noexcept {
  if (const char* reason = refuses_tensor(call, x)) return reason;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  if (call.rank(x) != 4 || call.rank(call.output()) != 4) return "not a batch of images";
  return call.fixed(x, 1) < 0 ? "a symbolic number of channels" : nullptr;
}

/// True if a window may lie in the padding whole, or have elements there whose nearest image element is outside the
/// window: with dilation XNNPACK takes the nearest image element for padding.
[[nodiscard]] constexpr bool leaves_image(const Call& call, const operators::PoolView& view) noexcept {
  if (view.dilation[1] == 1 && view.dilation[2] == 1) return false;
  for (std::size_t d = 1; d < 3; ++d)
    if (view.padding[d] > 0 &&
        (view.padding[d] >= view.dilation[d] || call.fixed(view.input, 1 + d) < view.dilation[d]))
      return true;
  return false;
}

inline void emit_window(Planner& p, const Call& call, ValueId x, Step step) {
  const DimOrder order = DimOrder::channels_last(4);
  const Clamped out = take_clamp(p, call.output());
  step.min = out.bounds.low;
  step.max = out.bounds.high;
  step.in = p.need(x, order, true);
  step.out = p.define(out.value, order, true);
  p.add(step, call.id());
}
[[nodiscard]] constexpr const char* read_pool(const Call& call, operators::PoolView& view) {
  if (const operators::Refusal wrong = operators::read_pool(call.arguments(), view)) return wrong.what;
  if (const char* reason = refuses_image(call, view.input)) return reason;
  const std::optional<Window> w = window_of(call, view);
  if (!w) return "a window of one element, or one beyond 2^12";
  if (view.maximum && leaves_image(call, view)) return "a dilated window that leaves the image";
  if (view.maximum && (w->stride[0] > w->kernel[0] || w->stride[1] > w->kernel[1]))
    return "a stride beyond the window";  // XNNPACK of 2024 refuses it
  if (view.maximum) return call.arguments().uses_first_output_only() ? nullptr : "the indices of the maxima are used";
  if (view.divisor != 0) return "a divisor of its own";
  if (view.is_padded() && view.count_include_pad) return "padding that counts";
  const bool rounds_up = w->padding[2] != w->padding[0] || w->padding[1] != w->padding[3];
  return rounds_up ? "a window that hangs over the end" : nullptr;
}
inline void emit_max_pool(Planner& p, const Call& call, const operators::PoolView& view) {
  const ValueId x = view.input;
  const DimOrder order = DimOrder::channels_last(4);
  Step step{.op = Op::max_pool, .window = *window_of(call, view)};
  if (p.state(x).dequantized) {  // dequantize is monotonic: the largest integer is the largest number
    step.op = Op::max_pool_s8;
    step.in = p.need_raw(x, order);
    step.out = p.temporary(p.dims(call.output()), order, ScalarType::int8);
    p.add(step, call.id());
    p.state(call.output()).dequantized = true;
    p.state(call.output()).quantization = p.state(x).quantization;
    return p.alias(call.output(), step.out, order);
  }
  emit_window(p, call, x, step);
}

inline void emit_pool(Planner& p, const Call& call, const operators::PoolView& view) {
  if (view.maximum) return emit_max_pool(p, call, view);
  emit_window(p, call, view.input, {.op = Op::average_pool, .window = *window_of(call, view)});
}

/// Averages over windows of equal size; portable's kernel averages whole images.
[[nodiscard]] constexpr const char* read_adaptive(const Call& call, operators::AdaptivePoolView& view) {
  if (const operators::Refusal wrong = operators::read_adaptive_pool(call.arguments(), view)) return wrong.what;
  if (const char* reason = refuses_image(call, view.input)) return reason;
  if (view.out[1] == 1 && view.out[2] == 1) return "an average over whole images";
  bool same = true;
  for (std::size_t d = 1; d < 3; ++d) {
    const std::int64_t in = call.fixed(view.input, d + 1);
    if (view.out[d] < 1 || in < 0 || in % view.out[d] != 0 || in / view.out[d] > 4096)
      return "windows of different sizes";
    same = same && view.out[d] == in;
  }
  return same ? "a window of one element" : nullptr;
}
inline void emit_adaptive(Planner& p, const Call& call, const operators::AdaptivePoolView& view) {
  Step step{.op = Op::average_pool};
  for (std::size_t d = 0; d < 2; ++d)
    step.window.kernel[d] = step.window.stride[d] =
        static_cast<std::uint32_t>(call.fixed(view.input, 2 + d) / view.out[d + 1]);
  emit_window(p, call, view.input, step);
}

}  // namespace detail

inline constexpr auto pooling_rules = std::to_array<Rule>({
    rule<operators::AdaptivePoolView, detail::read_adaptive, detail::emit_adaptive>(
        "aten._adaptive_avg_pool2d.default"),
    rule<operators::AdaptivePoolView, detail::read_adaptive, detail::emit_adaptive>("aten.adaptive_avg_pool2d.default"),
    rule<operators::PoolView, detail::read_pool, detail::emit_pool>("aten.avg_pool2d.default"),
    rule<operators::PoolView, detail::read_pool, detail::emit_pool>("aten.max_pool2d.default"),
    rule<operators::PoolView, detail::read_pool, detail::emit_pool>("aten.max_pool2d_with_indices.default"),
});

}  // namespace davit::xnnpack_parts
