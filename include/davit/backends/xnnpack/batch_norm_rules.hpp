// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/normalization.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr const char* refuses_batch_norm(const Call& call) noexcept {
  operators::BatchNormView view;
  if (const operators::Refusal wrong = operators::read_batch_norm(call.arguments(), view)) return wrong.what;
  if (view.training) return "training";
  for (const ValueId v : {view.input, call.output(), view.mean, view.variance})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  if (call.rank(call.output()) != call.rank(view.input)) return "no channel dimension";
  const std::int64_t channels = call.fixed(view.input, 1);
  if (channels < 0) return "a symbolic number of channels";
  for (const ValueId v : {view.weight, view.bias, view.mean, view.variance}) {
    if (v == no_id) continue;
    if (const char* reason = refuses_tensor(call, v)) return reason;
    if (call.fixed(v, 0) != channels) return "parameters that are not one number per channel";
  }
  return call.arguments().uses_first_output_only() ? nullptr : "its saved statistics are used";
}

/// Puts the parameters of a batch norm into weights; false if one is not constant.
[[nodiscard]] inline bool set_norm(Planner& p, const operators::BatchNormView& norm, Weights& weights) {
  const auto get = [&](ValueId v, Tensor& to) {
    if (v == no_id) return true;
    const Tensor* t = p.constant(v);
    if (t != nullptr) to = *t;
    return t != nullptr;
  };
  weights.eps = norm.eps;
  weights.has_norm = get(norm.weight, weights.scale) && get(norm.bias, weights.shift) && get(norm.mean, weights.mean) &&
                     get(norm.variance, weights.variance);
  return weights.has_norm;
}

/// A batch norm on its own: a depthwise convolution with a kernel of one element.
inline void emit_batch_norm(Planner& p, const Call& call) {
  operators::BatchNormView view;
  if (operators::read_batch_norm(call.arguments(), view)) return;  // which refuses_batch_norm has asked
  const ValueId x = view.input;
  const std::int64_t channels = call.fixed(x, 1);
  const DimOrder order = DimOrder::channels_last(p.rank(x));
  Weights weights;
  if (set_norm(p, view, weights)) {
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
  const DimOrder plain = DimOrder::row_major(1);
  const std::span<const Dim> channel = p.dims(x).subspan(1, 1);
  const auto vector = [&](Op op, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t to = p.temporary(channel, plain);
    p.add({.op = op, .in = {a, b, no_id}, .out = to}, call.id());
    return to;
  };
  const std::uint32_t shifted = vector(Op::add, p.need(view.variance, plain), p.number(static_cast<float>(view.eps)));
  std::uint32_t factor = vector(Op::square_root, shifted, no_id);
  const std::uint32_t weight = view.weight != no_id ? p.need(view.weight, plain) : p.number(1);
  factor = vector(Op::divide, weight, factor);
  const std::uint32_t centered = p.temporary(p.dims(x), order);
  p.add({.op = Op::subtract, .in = {p.need(x, order), p.need(view.mean, plain), no_id}, .out = centered, .axis = 1},
        call.id());
  const std::uint32_t scaled = view.bias != no_id ? p.temporary(p.dims(x), order) : p.define(call.output(), order);
  p.add({.op = Op::multiply, .in = {centered, factor, no_id}, .out = scaled, .axis = 1}, call.id());
  if (view.bias == no_id) return;
  const std::uint32_t out = p.define(call.output(), order);
  p.add({.op = Op::add, .in = {scaled, p.need(view.bias, plain), no_id}, .out = out, .axis = 1}, call.id());
}

}  // namespace detail

inline constexpr auto batch_norm_rules = std::to_array<Rule>({
    {"aten._native_batch_norm_legit_no_training.default", detail::refuses_batch_norm, detail::emit_batch_norm},
    {"aten.batch_norm.default", detail::refuses_batch_norm, detail::emit_batch_norm},
});

}  // namespace davit::xnnpack_parts
