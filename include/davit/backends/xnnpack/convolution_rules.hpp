// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "davit/backends/xnnpack/batch_norm_rules.hpp"
#include "davit/backends/xnnpack/convolution_window.hpp"
#include "davit/backends/xnnpack/quantization.hpp"
#include "davit/backends/xnnpack/rule.hpp"

namespace davit::xnnpack_parts {

namespace detail {

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

inline void emit_convolution(Planner& p, const Call& call) {
  const ValueId w = call.value("weight");
  const ValueId bias = call.value("bias");
  ValueId x = call.value("input");
  const std::size_t rank = p.rank(w);
  const DimOrder order = DimOrder::channels_last(rank);
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
    DimOrder packed = DimOrder::row_major(rank);  // [out, height, width, in]
    for (std::size_t d = 1; d + 1 < rank; ++d) packed.dim[d] = static_cast<std::uint8_t>(d + 1);
    packed.dim[rank - 1] = 1;
    step.in = {p.need(x, order), p.need(w, packed), bias == no_id ? no_id : p.need(bias, DimOrder::row_major(1))};
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

}  // namespace detail

inline constexpr auto convolution_rules = std::to_array<Rule>({
    {"aten.conv1d.default", detail::refuses_convolution, detail::emit_convolution},
    {"aten.conv1d.padding", detail::refuses_convolution, detail::emit_convolution},
    {"aten.conv2d.default", detail::refuses_convolution, detail::emit_convolution},
    {"aten.conv2d.padding", detail::refuses_convolution, detail::emit_convolution},
    {"aten.convolution.default", detail::refuses_convolution, detail::emit_convolution},
});

}  // namespace davit::xnnpack_parts
