// SPDX-License-Identifier: MIT
#pragma once

#include "davit/ops/families/arithmetic.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Arguments of a function of two tensors, or of a tensor and a number.
struct BinaryView {
  BinaryFunction function = BinaryFunction::add;
  ValueId left = no_id;   ///< no_id: use `left_number`
  ValueId right = no_id;  ///< no_id: use `right_number`
  double left_number = 0;
  double right_number = 0;
  double alpha = 1;  ///< factor of the right operand

  friend constexpr bool operator==(const BinaryView&, const BinaryView&) = default;
};

/// Reads a call of that function. Errors: invalid_argument for unknown operands and factors.
template <CallArguments Call>
constexpr Refusal read_binary(const Call& call, const BinaryOperator& op, BinaryView& view) noexcept {
  view.function = op.function;
  const auto read = [&](Parameter p, ValueId& v, double& number) {
    v = call.value(p);
    if (v != no_id) return true;
    const auto* const a = call.find(p);
    return a != nullptr && call.read_number(*a, number);
  };
  if (!read({"self", 0}, view.left, view.left_number) || !read({"other", 1}, view.right, view.right_number))
    return {"an operand is neither a tensor nor a number"};
  if (view.left == no_id && view.right == no_id) return {"no operand is a tensor"};
  if (op.scaled && !read_number(call, {"alpha", 2}, 1, view.alpha)) return {"alpha is no number"};
  return {};
}
/// Reads a call of any binary function.
template <CallArguments Call>
constexpr Refusal read_binary(const Call& call, BinaryView& view) noexcept {
  const BinaryOperator* const op = find_row(binary_operators, call);
  return op == nullptr ? Refusal{"the operator is no function of two operands"} : read_binary(call, *op, view);
}

}  // namespace davit::operators
