// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backends/xnnpack/rule.hpp"

namespace davit::xnnpack_parts {

namespace detail {

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

/// A batch norm on its own: a depthwise convolution with a kernel of one element.
inline void emit_batch_norm(Planner& p, const Call& call) {
  const ValueId x = call.value("input");
  const std::int64_t channels = call.fixed(x, 1);
  const DimOrder order = DimOrder::channels_last(p.rank(x));
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
  const DimOrder plain = DimOrder::row_major(1);
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

inline constexpr auto batch_norm_rules = std::to_array<Rule>({
    {"aten._native_batch_norm_legit_no_training.default", detail::refuses_batch_norm, detail::emit_batch_norm},
    {"aten.batch_norm.default", detail::refuses_batch_norm, detail::emit_batch_norm},
});

}  // namespace davit::xnnpack_parts
