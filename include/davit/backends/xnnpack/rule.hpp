// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/planner.hpp"
#include "davit/program/operators/bounds.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/normalization.hpp"
#include "davit/program/operators/pooling.hpp"
#include "davit/program/operators/quantization.hpp"

namespace davit::xnnpack_parts {

/// A view in other sizes, or an expand.
struct ViewOfSizes {
  ValueId input = no_id;
};
/// A concatenation along `axis`.
struct Concatenation {
  std::size_t axis = 0;
};

/// The description of a node, read once, from which its steps are made. Empty for a call of portable's kernel.
using Description =
    std::variant<std::monostate, operators::AdaptivePoolView, operators::BatchNormView, operators::ConvolutionView,
                 operators::MatmulView, operators::PadView, operators::PermutationView, operators::PoolView,
                 operators::QuantizationView, operators::SliceView, ViewOfSizes, Concatenation>;

/// A row of the op table: reads a node, or returns the reason of a refusal; makes its steps.
struct Rule {
  std::string_view target;
  const char* (*read)(const Call& call, Description& description);
  void (*emit)(Planner& planner, const Call& call, const Description& description);
};
/// The row of an operator with the description `View`.
template <class View, const char* (*Read)(const Call& call, View& view),
          void (*Emit)(Planner& planner, const Call& call, const View& view)>
[[nodiscard]] constexpr Rule rule(std::string_view target) noexcept {
  return {target, [](const Call& call, Description& to) { return Read(call, to.emplace<View>()); },
          [](Planner& planner, const Call& call, const Description& from) {
            Emit(planner, call, *std::get_if<View>(&from));
          }};
}

/// The bounds of a clamp of the first operand.
struct Bounds {
  float low = -infinity;
  float high = infinity;
};

/// The bounds of a clamp node for XNNPACK, which needs the lower one below the upper one.
[[nodiscard]] constexpr std::optional<Bounds> bounds_of(const Call& call) noexcept {
  operators::ClampView view;
  if (operators::read_clamp(call.arguments(), view)) return std::nullopt;
  const Bounds b{static_cast<float>(view.low), static_cast<float>(view.high)};
  return b.low < b.high ? std::optional(b) : std::nullopt;
}

/// The result of a node together with the clamps that are its only users.
struct Clamped {
  ValueId value = no_id;
  Bounds bounds;
};

/// Takes in the clamp that is the only user of `value`, if there is one.
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

/// Returns the reason why a node cannot move its operands unchanged, or nullptr: all tensors must have one dtype.
[[nodiscard]] constexpr const char* refuses_data_movement(const Call& call, ValueId x) noexcept {
  if (!call.is_tensor(x)) return "an operand is not a tensor";
  const ScalarType dtype = call.dtype(x);
  if (is_complex(dtype)) return "complex numbers";
  if (const char* reason = refuses_tensor(call, x, dtype)) return reason;
  for (std::size_t i = 0; i < call.outputs(); ++i)
    if (const char* reason = refuses_tensor(call, call.output(i), dtype)) return reason;
  return call.outputs() == 0 ? "no output" : nullptr;
}

/// A view of a constant stays constant, a view of a dequantized value stays dequantized.
inline void inherit_quantization(Planner& p, ValueId from, ValueId to) {
  p.state(to).dequantized = p.state(from).dequantized;
  p.state(to).quantization = p.state(from).quantization;
}

}  // namespace detail

}  // namespace davit::xnnpack_parts
