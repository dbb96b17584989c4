// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/planner.hpp"
#include "davit/program/operators/bounds.hpp"

namespace davit::xnnpack_parts {

/// A row of the op table: what says whether a node is taken is next to what makes its steps.
struct Rule {
  std::string_view target;
  const char* (*refuses)(const Call& call);
  void (*emit)(Planner& planner, const Call& call);
};

/// The bounds that a node clamps its first operand to.
struct Bounds {
  float low = -infinity;
  float high = infinity;
};

/// The bounds that a node keeps, as XNNPACK has them: the lower below the upper.
[[nodiscard]] constexpr std::optional<Bounds> bounds_of(const Call& call) noexcept {
  operators::BoundsView view;
  if (operators::read_bounds(call.arguments(), view)) return std::nullopt;
  const Bounds b{static_cast<float>(view.low), static_cast<float>(view.high)};
  return b.low < b.high ? std::optional(b) : std::nullopt;
}

/// What a node writes once the clamps that alone use it are taken in.
struct Clamped {
  ValueId value = no_id;
  Bounds bounds;
};

/// Takes in the clamp that alone uses `value`, if there is one.
[[nodiscard]] inline Clamped take_clamp(Planner& planner, ValueId value) {
  Clamped out{.value = value, .bounds = {}};
  const NodeId user = planner.only_user(value);
  if (user == no_id || planner.is_done(user) || planner.is_checked(value)) return out;
  const Call call(planner.graph(), user);
  const std::optional<Bounds> bounds = bounds_of(call);
  if (!bounds || !may_be_same(planner.dims(value), planner.dims(call.output()))) return out;
  planner.absorb(user);
  return {call.output(), *bounds};
}

namespace detail {

/// Why a value cannot be passed on as it is, or nullptr: float32 or int8.
[[nodiscard]] constexpr const char* refuses_data_movement(const Call& call, std::string_view name = "self") noexcept {
  const ValueId x = call.value(name);
  const bool integers = call.is_tensor(x) && call.dtype(x) == ScalarType::int8;
  const ScalarType dtype = integers ? ScalarType::int8 : ScalarType::float32;
  if (const char* reason = refuses_tensor(call, x, dtype)) return reason;
  for (std::size_t i = 0; i < call.outputs(); ++i)
    if (const char* reason = refuses_tensor(call, call.output(i), dtype)) return reason;
  return call.outputs() == 0 ? "no output" : nullptr;
}

/// Passes the constant's or the dequantized value's nature on to what is only another view of it.
inline void inherit_quantization(Planner& p, ValueId from, ValueId to) {
  p.state(to).dequantized = p.state(from).dequantized;
  p.state(to).quantization = p.state(from).quantization;
}

}  // namespace detail

}  // namespace davit::xnnpack_parts
