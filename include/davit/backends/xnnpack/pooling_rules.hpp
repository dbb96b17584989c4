// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "davit/backends/xnnpack/convolution_rules.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// The window of a pool over two dimensions, rounding up of the output size turned into padding at the end; nothing if
/// it is not made of literal numbers in range.
[[nodiscard]] constexpr std::optional<Window> pool_window(const Call& call) noexcept {
  const ValueId x = call.value("self");
  const auto kernel = call.ints<2>("kernel_size", 0);
  if (!kernel) return std::nullopt;
  const bool given = call.has("stride") && !(call.list("stride").empty() && call.arg("stride")->is_list());
  const auto stride = given ? call.ints<2>("stride", 1) : kernel;
  const auto padding = call.ints<2>("padding", 0);
  const auto dilation = call.ints<2>("dilation", 1);
  if (!stride || !padding || !dilation) return std::nullopt;
  Window w;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t k = (*kernel)[d];
    if (k < 1 || k > 4096 || (*stride)[d] < 1 || (*stride)[d] > 65535 || (*padding)[d] < 0 || (*padding)[d] > k / 2 ||
        (*dilation)[d] < 1 || (*dilation)[d] > 65535)
      return std::nullopt;
    w.kernel[d] = static_cast<std::uint32_t>(k);
    w.stride[d] = static_cast<std::uint32_t>((*stride)[d]);
    w.dilation[d] = static_cast<std::uint32_t>((*dilation)[d]);
    const auto side = static_cast<std::uint32_t>((*padding)[d]);
    w.padding[d == 0 ? 0 : 3] = w.padding[d == 0 ? 2 : 1] = side;
    if (!call.flag("ceil_mode", false)) continue;
    const std::int64_t in = call.fixed(x, 2 + d);
    const std::int64_t out = call.fixed(call.output(), 2 + d);
    if (in < 0 || out < 1) return std::nullopt;
    const std::int64_t reach = (out - 1) * (*stride)[d] + (k - 1) * (*dilation)[d] + 1;
    const std::int64_t end = reach - in - (*padding)[d];
    if (end > 65535) return std::nullopt;
    if (end > side) w.padding[d == 0 ? 2 : 1] = static_cast<std::uint32_t>(end);
  }
  return w.kernel[0] * w.kernel[1] > 1 ? std::optional(w) : std::nullopt;
}

[[nodiscard]] constexpr const char* refuses_image(const Call& call) noexcept {
  const ValueId x = call.value("self");
  if (const char* reason = refuses_tensor(call, x)) return reason;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  if (call.rank(x) != 4 || call.rank(call.output()) != 4) return "not a batch of images";
  return call.fixed(x, 1) < 0 ? "a symbolic number of channels" : nullptr;
}

[[nodiscard]] constexpr const char* refuses_max_pool(const Call& call) noexcept {
  if (const char* reason = refuses_image(call)) return reason;
  if (!pool_window(call)) return "a window of one element, or one that is not made of literal numbers";
  if (call.outputs() > 1 && is_used(call.graph(), call.output(1))) return "the indices of the maxima are used";
  return nullptr;
}
inline void emit_max_pool(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const Order order = Order::channels_last(4);
  Step step{.op = Op::max_pool, .window = *pool_window(call)};
  if (p.known(x).dequantized) {  // the largest integer is the largest number
    step.op = Op::max_pool_s8;
    step.in[0] = p.need_raw(x, order);
    step.out = p.temporary(p.dims(call.output()), order, ScalarType::int8);
    p.add(step, call.id());
    p.known(call.output()).dequantized = true;
    p.known(call.output()).quantization = p.known(x).quantization;
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
  const Order order = Order::channels_last(4);
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

/// Averages over `axes` physical dimensions from `axis` on; int8 throughout where the program quantizes the result.
inline void emit_average(Planner& p, const Call& call, const Order& order, const Order& kept, std::uint32_t axis,
                         std::uint32_t axes) {
  const ValueId x = call.value("self");
  Step step{.op = Op::global_average_pool, .axis = axis, .axes = axes};
  ValueId result = call.output();
  if (p.known(x).dequantized) {
    if (const std::optional<QuantizedResult> to = find_quantizer(p, result); to && axis + axes < order.rank) {
      const float ratio = p.known(x).quantization.scale / to->quantizer.quantization.scale;
      if (ratio >= 0x1.0p-8f && ratio < 0x1.0p+7f) {
        absorb_quantizer(p, *to);
        step.op = Op::global_average_pool_s8;
        step.quantization = {p.known(x).quantization, {}, to->quantizer.quantization};
        step.low = to->quantizer.low;
        step.high = to->quantizer.high;
        step.in[0] = p.need_raw(x, order);
        step.out = p.define(to->value, kept);
        return p.add(step, call.id());
      }
    }
  }
  const Clamped out = take_clamp(p, result);
  step.min = out.bounds.low;
  step.max = out.bounds.high;
  step.in[0] = p.need(x, order, axis + axes + 1 == order.rank);
  step.out = p.define(out.value, kept);
  p.add(step, call.id());
}

[[nodiscard]] constexpr const char* refuses_adaptive(const Call& call) noexcept {
  if (const char* reason = refuses_image(call)) return reason;
  const auto size = call.ints<2>("output_size", 1);
  if (!size) return "an output size that is symbolic";
  if ((*size)[0] == 1 && (*size)[1] == 1) return nullptr;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t in = call.fixed(call.value("self"), 2 + d);
    if ((*size)[d] < 1 || in < 0 || in % (*size)[d] != 0 || in / (*size)[d] > 4096) return "windows of different sizes";
  }
  return (*size)[0] == call.fixed(call.value("self"), 2) && (*size)[1] == call.fixed(call.value("self"), 3)
             ? "a window of one element"
             : nullptr;
}
inline void emit_adaptive(Planner& p, const Call& call) {
  const auto size = *call.ints<2>("output_size", 1);
  if (size[0] == 1 && size[1] == 1)
    return emit_average(p, call, Order::channels_last(4), Order::channels_last(4), 1, 2);
  Step step{.op = Op::average_pool};
  for (std::size_t d = 0; d < 2; ++d)
    step.window.kernel[d] = step.window.stride[d] =
        static_cast<std::uint32_t>(call.fixed(call.value("self"), 2 + d) / size[d]);
  emit_window(p, call, step);
}

/// Which dimensions a mean runs over, as bits; 0 if they are not literal.
[[nodiscard]] constexpr std::uint32_t mean_dims(const Call& call) noexcept {
  const std::size_t rank = call.rank(call.value("self"));
  std::uint32_t bits = 0;
  for (const Argument& a : call.list("dim")) {
    const std::int64_t d = a.kind == ArgumentKind::int_ ? call.axis(a.payload, rank) : -1;
    if (d < 0) return 0;
    bits |= 1u << static_cast<unsigned>(d);
  }
  return bits != 0 ? bits : (1u << static_cast<unsigned>(rank)) - 1;
}
[[nodiscard]] constexpr const char* refuses_mean(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  if (call.has("dtype")) return "a change of dtype";
  if (call.rank(call.value("self")) == 0 || mean_dims(call) == 0) return "dimensions that are not literal";
  return nullptr;
}
inline void emit_mean(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const std::size_t rank = p.rank(x);
  const std::uint32_t bits = mean_dims(call);
  const bool keep = call.flag("keepdim", false);
  // the kept dimensions outside, then the averaged ones, then the last kept one if its size is known
  std::size_t last = rank;
  for (std::size_t d = 0; d < rank; ++d)
    if ((bits >> d & 1) == 0 && call.fixed(x, d) > 1) last = d;
  Order order;
  Order kept;
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

inline constexpr auto pooling_rules = std::to_array<Rule>({
    {"aten._adaptive_avg_pool2d.default", detail::refuses_adaptive, detail::emit_adaptive},
    {"aten.adaptive_avg_pool2d.default", detail::refuses_adaptive, detail::emit_adaptive},
    {"aten.avg_pool2d.default", detail::refuses_average_pool, detail::emit_average_pool},
    {"aten.max_pool2d.default", detail::refuses_max_pool, detail::emit_max_pool},
    {"aten.max_pool2d_with_indices.default", detail::refuses_max_pool, detail::emit_max_pool},
    {"aten.mean.default", detail::refuses_mean, detail::emit_mean},
    {"aten.mean.dim", detail::refuses_mean, detail::emit_mean},
});

}  // namespace davit::xnnpack_parts
