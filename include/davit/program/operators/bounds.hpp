// SPDX-License-Identifier: MIT
#pragma once

#include <limits>

#include "davit/ops/families/activations.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Arguments of an activation that clamps its input.
struct ClampView {
  ValueId input = no_id;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  friend constexpr bool operator==(const ClampView&, const ClampView&) = default;
};

/// Reads a call of that activation. A NaN bound of clamp counts only with a second bound: clamp(x, min=nan) is x.
/// Errors: invalid_argument for unknown bounds; bounds may cross.
template <CallArguments Call>
constexpr Refusal read_clamp(const Call& call, const ClampOperator& op, ClampView& view) noexcept {
  view.input = call.value({"self", 0});
  view.low = op.low;
  view.high = op.high;
  if (view.input == no_id) return {"an operand is no tensor"};
  if (op.low_name != nullptr && (!read_number(call, {op.low_name, 1}, op.low, view.low) ||
                                 !read_number(call, {op.high_name, 2}, op.high, view.high)))
    return {"a bound is no number"};
  if (view.low != view.low && call.find({op.high_name, 2}) == nullptr &&
      op.high == std::numeric_limits<double>::infinity())
    view.low = op.low;
  if (view.high != view.high && call.find({op.low_name, 1}) == nullptr &&
      op.low == -std::numeric_limits<double>::infinity())
    view.high = op.high;
  return {};
}
/// Reads a call of any clamping activation.
template <CallArguments Call>
constexpr Refusal read_clamp(const Call& call, ClampView& view) noexcept {
  const ClampOperator* const op = find_row(clamp_operators, call);
  return op == nullptr ? Refusal{"the operator is no clamping activation"} : read_clamp(call, *op, view);
}

}  // namespace davit::operators
