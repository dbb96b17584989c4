// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/convolution_rules.hpp"
#include "davit/backends/xnnpack/unary_rules.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Before and after, per logical dimension; nothing if they are not literal numbers >= 0.
[[nodiscard]] constexpr std::optional<std::array<std::int32_t, 2 * max_dims>> pads_of(const Call& call) noexcept {
  std::array<std::int32_t, 2 * max_dims> out{};
  const std::span<const Argument> pad = call.list("pad");
  const std::size_t rank = call.rank(call.value("self"));
  if (pad.size() % 2 != 0 || pad.size() > 2 * rank) return std::nullopt;
  for (std::size_t i = 0; i < pad.size(); ++i) {
    if (pad[i].kind != ArgumentKind::int_ || pad[i].payload < 0 || pad[i].payload > 65535) return std::nullopt;
    out[2 * (rank - 1 - i / 2) + i % 2] = static_cast<std::int32_t>(pad[i].payload);
  }
  return out;
}
[[nodiscard]] constexpr const char* refuses_pad(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  if (!call.is_literal("value")) return "a value that is not a literal number";
  const auto pads = pads_of(call);
  if (!pads || call.rank(call.output()) != call.rank(call.value("self")))
    return "padding that is negative or not made of literal numbers";
  for (std::size_t d = 0; d < call.rank(call.output()); ++d) {
    const Dim& from = call.dims(call.value("self"))[d];
    const Dim& to = call.dims(call.output())[d];
    const std::int64_t more = (*pads)[2 * d] + (*pads)[2 * d + 1];
    if (more == 0 ? !same_dim(from, to) : from.is_static() && to.is_static() && from.value + more != to.value)
      return "sizes that do not fit";
  }
  return nullptr;
}
inline void emit_pad(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const ValueId y = call.output();
  const auto pads = *pads_of(call);
  const NodeId user = p.only_user(y);
  if (user != no_id && call.number("value", 0) == 0 && p.rank(x) >= 3 && pads[0] + pads[1] + pads[2] + pads[3] == 0) {
    const Call next(p.graph(), user);
    const bool convolves = next.target() == "aten.convolution.default" || next.target() == "aten.conv2d.default";
    if (convolves && next.value("input") == y && next.value("weight") != y && refuses_convolution(next) == nullptr) {
      p.padded(y) = {x, pads};
      return;
    }
  }
  const std::uint32_t from = p.need_dense(x);
  Step step{.op = Op::pad, .alpha = static_cast<float>(call.number("value", 0)), .pads = pads};
  step.in[0] = from;
  step.out = p.define(y, p.plan.slots[from].order);
  p.add(step, call.id());
}

}  // namespace detail

inline constexpr auto pad_rules = std::to_array<Rule>({
    {"aten.constant_pad_nd.default", detail::refuses_pad, detail::emit_pad},
});

}  // namespace davit::xnnpack_parts
