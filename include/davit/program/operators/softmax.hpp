// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/tensor_view.hpp"
#include "davit/ops/families/softmax.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Arguments of a softmax.
struct SoftmaxView {
  ValueId input = no_id;
  std::size_t dim = 0;  ///< a tensor without dimensions has dimension 0
  bool logarithm = false;
  bool masked = false;    ///< a line of only -inf gives zeros
  bool converts = false;  ///< the dtype may change: `half_to_float` or `dtype` is given

  friend constexpr bool operator==(const SoftmaxView&, const SoftmaxView&) = default;
};

/// Reads a call of that softmax. Errors: invalid_argument, out_of_range.
template <CallArguments Call>
constexpr Refusal read_softmax(const Call& call, const SoftmaxOperator& op, SoftmaxView& view) noexcept {
  view.input = call.value({"self", 0});
  view.logarithm = op.logarithm;
  view.masked = op.masked;
  if (view.input == no_id) return {"softmax: the input is no tensor"};
  std::int64_t dim = 0;
  const auto* const given = call.find({"dim", 1});
  if (given == nullptr || !call.read_integer(*given, dim)) return {"softmax: the dimension is not known"};
  if (!wrap_dim(dim, call.rank(view.input))) return {"softmax: the dimension is out of range", ErrorCode::out_of_range};
  view.dim = static_cast<std::size_t>(dim);
  if (!op.core) {
    view.converts = call.find({"dtype", 2}) != nullptr;
    return {};
  }
  return read_flag(call, {"half_to_float", 2}, false, view.converts) ? Refusal{}
                                                                     : Refusal{"softmax: half_to_float is not known"};
}
/// Reads a call of any softmax.
template <CallArguments Call>
constexpr Refusal read_softmax(const Call& call, SoftmaxView& view) noexcept {
  const SoftmaxOperator* const op = find_row(softmax_operators, call);
  return op == nullptr ? Refusal{"the operator is no softmax"} : read_softmax(call, *op, view);
}

}  // namespace davit::operators
