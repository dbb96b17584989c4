// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "davit/backends/xnnpack/elementwise_rules.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Stride, dilation and so on of a convolution, as two dimensions; nothing if they are not literal numbers in range.
[[nodiscard]] constexpr std::optional<Window> window_of(const Call& call, std::size_t rank) noexcept {
  Window w;
  const auto pairs = [&](std::string_view name, std::int64_t otherwise, std::int64_t least, auto&& set) {
    std::array<std::int64_t, 2> v{otherwise, otherwise};
    if (rank == 3) {
      const auto one = call.ints<1>(name, otherwise);
      if (!one) return false;
      v = {name == "padding" ? 0 : 1, (*one)[0]};
    } else {
      const auto two = call.ints<2>(name, otherwise);
      if (!two) return false;
      v = *two;
    }
    if (v[0] < least || v[1] < least || v[0] > 65535 || v[1] > 65535) return false;
    set(static_cast<std::uint32_t>(v[0]), static_cast<std::uint32_t>(v[1]));
    return true;
  };
  const std::string_view word = call.string("padding");
  const bool good = pairs("stride", 1, 1, [&](auto h, auto v) { w.stride = {h, v}; }) &&
                    pairs("dilation", 1, 1, [&](auto h, auto v) { w.dilation = {h, v}; }) &&
                    (!word.empty() || pairs("padding", 0, 0, [&](auto h, auto v) { w.padding = {h, v, h, v}; }));
  if (!word.empty() && word != "valid" && word != "same") return std::nullopt;
  const std::int64_t groups = call.integer("groups", 1);
  if (!good || groups < 1 || groups > INT32_MAX) return std::nullopt;
  w.groups = static_cast<std::uint32_t>(groups);
  if (word == "same") {  // the odd one goes to the end, as in torch
    const ValueId kernel = call.value("weight");
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t size = rank == 3 && d == 0 ? 1 : call.fixed(kernel, rank - 2 + d);
      if (size < 1 || size > 65535) return std::nullopt;
      const auto total = w.dilation[d] * static_cast<std::uint32_t>(size - 1);
      w.padding[d == 0 ? 0 : 3] = total / 2;
      w.padding[d == 0 ? 2 : 1] = total - total / 2;
    }
  }
  return w;
}

[[nodiscard]] constexpr const char* refuses_convolution(const Call& call) noexcept {
  const ValueId x = call.value("input");
  const ValueId w = call.value("weight");
  if (const char* reason = refuses_tensor(call, x)) return reason;
  if (const char* reason = refuses_tensor(call, w)) return reason;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  const std::size_t rank = call.rank(w);
  if (rank != 3 && rank != 4) return "neither a 1-d nor a 2-d convolution";
  if (call.rank(x) != rank || call.rank(call.output()) != rank) return "input without a batch dimension";
  if (call.flag("transposed", false)) return "a transposed convolution";
  const std::optional<Window> window = window_of(call, rank);
  if (!window) return "stride, padding, dilation or groups are no literal numbers in range";
  if (!call.all_fixed(w)) return "weights of symbolic size";
  const std::int64_t out = call.fixed(w, 0);
  const std::int64_t in = call.fixed(x, 1);
  if (in < 0 || in != call.fixed(w, 1) * window->groups || out % window->groups != 0 ||
      call.fixed(call.output(), 1) != out)
    return "channels that are symbolic or do not fit the groups";
  for (std::size_t d = 2; d < rank; ++d)
    if (call.fixed(w, d) > 65535) return "a kernel beyond 2^16";
  const ValueId bias = call.value("bias");
  if (!call.has("bias")) return nullptr;
  if (const char* reason = refuses_tensor(call, bias)) return reason;
  return call.rank(bias) == 1 && call.fixed(bias, 0) == out ? nullptr : "a bias that is not one number per channel";
}

[[nodiscard]] constexpr const char* refuses_batch_norm(const Call& call) noexcept {
  const ValueId x = call.value("input");
  for (const ValueId v : {x, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  if (call.flag("training", false)) return "training";
  const std::size_t rank = call.rank(x);
  if (rank < 2 || call.rank(call.output()) != rank) return "no channel dimension";
  const std::int64_t channels = call.fixed(x, 1);
  if (channels < 0) return "a symbolic number of channels";
  for (const std::string_view name : {"weight", "bias", "running_mean", "running_var"}) {
    if (!call.has(name) && (name == "weight" || name == "bias")) continue;
    const ValueId v = call.value(name);
    if (const char* reason = refuses_tensor(call, v)) return reason;
    if (call.rank(v) != 1 || call.fixed(v, 0) != channels) return "parameters that are not one number per channel";
  }
  if (!call.is_literal("eps")) return "eps is not a literal number";
  for (std::size_t i = 1; i < call.outputs(); ++i)
    if (is_used(call.graph(), call.output(i))) return "its saved statistics are used";
  return nullptr;
}

/// Puts the parameters of a batch norm into weights; false if one is not constant.
[[nodiscard]] inline bool set_norm(Planner& p, const Call& norm, Weights& weights) {
  const auto get = [&](std::string_view name, Tensor& to) {
    if (!norm.has(name)) return true;
    const Tensor* t = p.constant(norm.value(name));
    if (t != nullptr) to = *t;
    return t != nullptr;
  };
  weights.eps = norm.number("eps", 1e-5);
  weights.has_norm = get("weight", weights.scale) && get("bias", weights.shift) && get("running_mean", weights.mean) &&
                     get("running_var", weights.variance);
  return weights.has_norm;
}

/// int8 in, weights and out: the input was dequantized, and the result is quantized and nothing else.
[[nodiscard]] inline bool emit_quantized_weights(Planner& p, const Call& call, ValueId x, ValueId w, ValueId bias,
                                                 Step step, const Order& order, bool transposed) {
  if (!p.known(x).dequantized || !p.known(w).constant || !p.known(w).packed) return false;
  const QuantizedTensor& q = p.known(w).weights;
  const std::size_t out_dim = transposed ? 1 : 0;
  if (q.scales.size() != 1 && q.axis != out_dim) return false;
  for (const std::int32_t zero : q.zero_points)
    if (zero != 0) return false;
  const Tensor* b = bias == no_id ? nullptr : p.constant(bias);
  if (bias != no_id && b == nullptr) return false;
  const std::optional<QuantizedResult> result = find_quantizer(p, call.output());
  if (!result) return false;
  const float si = p.known(x).quantization.scale;
  const float so = result->quantizer.quantization.scale;
  for (const float sw : q.scales)
    if (!(sw > 1e-30f && si * sw / so > 1e-9f && si * sw / so < 256.0f)) return false;
  Weights weights{
      .kernel = q.integers, .transposed = transposed, .bias = b == nullptr ? Tensor{} : *b, .kernel_scales = q.scales};
  step.op = Op::quantized_convolution;
  step.quantization = {p.known(x).quantization, {}, result->quantizer.quantization};
  step.low = result->quantizer.low;
  step.high = result->quantizer.high;
  step.in[0] = p.need_raw(x, order);
  step.weights = p.add_weights(std::move(weights));
  absorb_quantizer(p, *result);
  step.out = p.define(result->value, order);
  p.add(step, call.id());
  return true;
}

inline void emit_convolution(Planner& p, const Call& call) {
  const ValueId w = call.value("weight");
  const ValueId bias = call.value("bias");
  ValueId x = call.value("input");
  const std::size_t rank = p.rank(w);
  const Order order = Order::channels_last(rank);
  Step step{.op = Op::convolution, .window = *window_of(call, rank)};
  Window& window = step.window;
  const std::span<const Dim> kernel = p.dims(w);
  window.kernel = {rank == 4 ? static_cast<std::uint32_t>(kernel[2].value) : 1,
                   static_cast<std::uint32_t>(kernel[rank - 1].value)};
  if (const Padded& padded = p.padded(x); padded.source != no_id) {
    x = padded.source;
    const auto pad = [&](std::size_t d, std::size_t side) {
      return static_cast<std::uint32_t>(padded.pads[2 * d + side]);
    };
    const std::size_t last = rank - 1;
    window.padding[1] += pad(last, 1);
    window.padding[3] += pad(last, 0);
    if (rank == 4) {
      window.padding[0] += pad(2, 0);
      window.padding[2] += pad(2, 1);
    }
  }
  if (emit_quantized_weights(p, call, x, w, bias, step, order, false)) return;
  const Tensor* kernel_tensor = p.constant(w);
  const Tensor* bias_tensor = bias == no_id ? nullptr : p.constant(bias);
  ValueId result = call.output();
  if (kernel_tensor == nullptr || (bias != no_id && bias_tensor == nullptr)) {
    const Clamped out = take_clamp(p, result);
    step.op = Op::dynamic_convolution;
    step.min = out.bounds.low;
    step.max = out.bounds.high;
    Order packed = Order::row_major(rank);  // [out, height, width, in]
    for (std::size_t d = 1; d + 1 < rank; ++d) packed.dim[d] = static_cast<std::uint8_t>(d + 1);
    packed.dim[rank - 1] = 1;
    step.in = {p.need(x, order), p.need(w, packed), bias == no_id ? no_id : p.need(bias, Order::row_major(1))};
    step.out = p.define(out.value, order);
    p.add(step, call.id());
    return;
  }
  Weights weights{.kernel = *kernel_tensor, .bias = bias_tensor == nullptr ? Tensor{} : *bias_tensor};
  if (const NodeId user = p.only_user(result); user != no_id) {
    const Call norm(p.graph(), user);
    const bool is_norm = norm.target() == "aten._native_batch_norm_legit_no_training.default" ||
                         norm.target() == "aten.batch_norm.default";
    if (is_norm && norm.value("input") == result && refuses_batch_norm(norm) == nullptr && set_norm(p, norm, weights)) {
      p.absorb(user);
      result = norm.output();
    }
  }
  const Clamped out = take_clamp(p, result);
  step.min = out.bounds.low;
  step.max = out.bounds.high;
  step.weights = p.add_weights(std::move(weights));
  step.in[0] = p.need(x, order, true);
  step.out = p.define(out.value, order, true);
  p.add(step, call.id());
}

/// A batch norm on its own: a depthwise convolution with a kernel of one element.
inline void emit_batch_norm(Planner& p, const Call& call) {
  const ValueId x = call.value("input");
  const std::int64_t channels = call.fixed(x, 1);
  const Order order = Order::channels_last(p.rank(x));
  Weights weights;
  if (set_norm(p, call, weights)) {
    weights.kernel = Tensor::zeros(ScalarType::float32, std::array<std::int64_t, 4>{channels, 1, 1, 1});
    if (!weights.kernel.storage.empty()) std::fill_n(weights.kernel.view().as<float>(), channels, 1.0f);
    const Clamped out = take_clamp(p, call.output());
    Step step{.op = Op::convolution,
              .min = out.bounds.low,
              .max = out.bounds.high,
              .window = {.groups = static_cast<std::uint32_t>(channels)}};
    step.weights = p.add_weights(std::move(weights));
    step.in[0] = p.need(x, order, true);
    step.out = p.define(out.value, order, true);
    return p.add(step, call.id());
  }
  // (x - mean) / sqrt(variance + eps) * weight + bias, parameters passed at each call
  const Order plain = Order::row_major(1);
  const std::span<const Dim> channel = p.dims(x).subspan(1, 1);
  const auto vector = [&](Op op, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t to = p.temporary(channel, plain);
    p.add({.op = op, .in = {a, b, no_id}, .out = to}, call.id());
    return to;
  };
  const std::uint32_t shifted =
      vector(Op::add, p.need(call.value("running_var"), plain), p.number(static_cast<float>(call.number("eps", 1e-5))));
  std::uint32_t factor = vector(Op::square_root, shifted, no_id);
  const std::uint32_t weight = call.has("weight") ? p.need(call.value("weight"), plain) : p.number(1);
  factor = vector(Op::divide, weight, factor);
  const std::uint32_t centered = p.temporary(p.dims(x), order);
  p.add({.op = Op::subtract,
         .in = {p.need(x, order), p.need(call.value("running_mean"), plain), no_id},
         .out = centered,
         .axis = 1},
        call.id());
  const std::uint32_t scaled = call.has("bias") ? p.temporary(p.dims(x), order) : p.define(call.output(), order);
  p.add({.op = Op::multiply, .in = {centered, factor, no_id}, .out = scaled, .axis = 1}, call.id());
  if (!call.has("bias")) return;
  const std::uint32_t out = p.define(call.output(), order);
  p.add({.op = Op::add, .in = {scaled, p.need(call.value("bias"), plain), no_id}, .out = out, .axis = 1}, call.id());
}

}  // namespace detail

inline constexpr auto convolution_rules = std::to_array<Rule>({
    {"aten._native_batch_norm_legit_no_training.default", detail::refuses_batch_norm, detail::emit_batch_norm},
    {"aten.batch_norm.default", detail::refuses_batch_norm, detail::emit_batch_norm},
    {"aten.conv1d.default", detail::refuses_convolution, detail::emit_convolution},
    {"aten.conv1d.padding", detail::refuses_convolution, detail::emit_convolution},
    {"aten.conv2d.default", detail::refuses_convolution, detail::emit_convolution},
    {"aten.conv2d.padding", detail::refuses_convolution, detail::emit_convolution},
    {"aten.convolution.default", detail::refuses_convolution, detail::emit_convolution},
});

}  // namespace davit::xnnpack_parts
