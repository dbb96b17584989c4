// SPDX-License-Identifier: MIT
#pragma once

#include "davit/ops/families/matrix_products.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Arguments of a matrix product: alpha * left @ right + beta * addend.
struct MatmulView {
  ValueId left = no_id;     ///< (*, rows, inner)
  ValueId right = no_id;    ///< (*, inner, columns); transposed: (columns, inner)
  ValueId addend = no_id;   ///< broadcasts to the result
  bool transposed = false;  ///< for linear, whose addend is a bias
  std::size_t rank = 0;     ///< rank of both operands; 0: any, with broadcast batch dimensions
  double alpha = 1;
  double beta = 1;

  /// True if alpha and beta are 1.
  [[nodiscard]] constexpr bool is_plain() const noexcept { return alpha == 1 && beta == 1; }

  friend constexpr bool operator==(const MatmulView&, const MatmulView&) = default;
};

/// Reads a call of that matrix product. Errors: invalid_argument, invalid_shape.
template <CallArguments Call>
constexpr Refusal read_matmul(const Call& call, const MatmulOperator& op, MatmulView& view) noexcept {
  view.left = call.value(op.left);
  view.right = call.value(op.right);
  if (view.left == no_id || view.right == no_id) return {"an operand is no tensor"};
  view.transposed = op.transposed;
  view.rank = op.rank;
  if (op.addend.name != nullptr) {
    view.addend = call.value(op.addend);
    if (view.addend == no_id && call.find(op.addend) != nullptr) return {"the bias is no tensor"};
  }
  if (op.scaled && (!read_number(call, {"beta", 3}, 1, view.beta) || !read_number(call, {"alpha", 4}, 1, view.alpha)))
    return {"alpha or beta is no number"};
  const std::size_t left = call.rank(view.left);
  const std::size_t right = call.rank(view.right);
  if (left == 0 || right == 0 || (op.rank != 0 && (left != op.rank || right != op.rank)) ||
      (op.transposed && right > 2))
    return {"the operands are no matrices", ErrorCode::invalid_shape};
  const std::int64_t inner = call.size(view.left, left - 1);
  const std::int64_t taps = call.size(view.right, op.transposed || right == 1 ? right - 1 : right - 2);
  if (inner >= 0 && taps >= 0 && inner != taps)
    return {"the sizes of the operands do not fit a matrix product", ErrorCode::invalid_shape};
  return {};
}
/// Reads a call of any matrix product.
template <CallArguments Call>
constexpr Refusal read_matmul(const Call& call, MatmulView& view) noexcept {
  const MatmulOperator* const op = find_row(matmul_operators, call);
  return op == nullptr ? Refusal{"the operator is no matrix product"} : read_matmul(call, *op, view);
}
/// True for a linear, which takes its weight as (out, in).
template <CallArguments Call>
[[nodiscard]] constexpr bool is_linear(const Call& call) noexcept {
  const MatmulOperator* const op = find_row(matmul_operators, call);
  return op != nullptr && op->transposed;
}

}  // namespace davit::operators
