// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/convolution_rules.hpp"
#include "davit/backends/xnnpack/unary_rules.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/folds.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Before and after, per logical dimension; nothing if XNNPACK has no numbers like these.
[[nodiscard]] constexpr std::optional<std::array<std::int32_t, 2 * max_dims>> pads_of(
    const operators::PadView& view) noexcept {
  std::array<std::int32_t, 2 * max_dims> out{};
  if (view.rank > max_dims) return std::nullopt;
  for (std::size_t d = 0; d < view.rank; ++d) {
    if (view.before[d] < 0 || view.before[d] > 65535 || view.after[d] < 0 || view.after[d] > 65535) return std::nullopt;
    out[2 * d] = static_cast<std::int32_t>(view.before[d]);
    out[2 * d + 1] = static_cast<std::int32_t>(view.after[d]);
  }
  return out;
}
[[nodiscard]] constexpr const char* refuses_pad(const Call& call) noexcept {
  if (const char* reason = refuses_floats(call)) return reason;
  operators::PadView view;
  if (const operators::Refusal wrong = operators::read_pad(call.arguments(), view)) return wrong.what;
  const auto pads = pads_of(view);
  if (!pads || call.rank(call.output()) != view.rank) return "padding that is negative or beyond 2^16";
  for (std::size_t d = 0; d < call.rank(call.output()); ++d) {
    const Dim& from = call.dims(view.input)[d];
    const Dim& to = call.dims(call.output())[d];
    const std::int64_t more = (*pads)[2 * d] + (*pads)[2 * d + 1];
    if (more == 0 ? !same_dim(from, to) : from.is_static() && to.is_static() && from.value + more != to.value)
      return "sizes that do not fit";
  }
  return nullptr;
}
inline void emit_pad(Planner& p, const Call& call) {
  operators::PadView view;
  if (operators::read_pad(call.arguments(), view)) return;  // which refuses_pad has asked
  const ValueId x = view.input;
  const ValueId y = call.output();
  operators::ConvolutionView convolution;
  operators::PadView inner;
  if (const NodeId user = p.only_user(y);
      user != no_id && !operators::read_convolution(p.calls().call(user), convolution) && convolution.input == y &&
      !convolution.transposed && !is_by_kernel(Call(p.graph(), user), convolution) &&
      operators::read_inner_padding(p.calls(), y, inner))
    return;  // the convolution does it
  const std::uint32_t from = p.need_dense(x);
  Step step{.op = Op::pad, .alpha = static_cast<float>(view.value), .pads = *pads_of(view)};
  step.in[0] = from;
  step.out = p.define(y, p.plan.slots[from].order);
  p.add(step, call.id());
}

}  // namespace detail

inline constexpr auto pad_rules = std::to_array<Rule>({
    {"aten.constant_pad_nd.default", detail::refuses_pad, detail::emit_pad},
});

}  // namespace davit::xnnpack_parts
