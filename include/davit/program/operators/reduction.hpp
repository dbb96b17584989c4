// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/tensor_view.hpp"
#include "davit/ops/families/reductions.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Arguments of a reduction over dimensions.
struct ReductionView {
  ReductionFunction function = ReductionFunction::sum;
  ValueId input = no_id;
  std::uint32_t dims = 0;  ///< bit set of the reduced dimensions
  bool keepdim = false;
  bool converts = false;  ///< `dtype` is given

  [[nodiscard]] constexpr bool reduces(std::size_t d) const noexcept { return (dims >> d & 1u) != 0; }

  friend constexpr bool operator==(const ReductionView&, const ReductionView&) = default;
};

/// Reads a list of dimensions, or one dimension, as a bit set; an omitted or empty list means all. Errors:
/// invalid_argument, out_of_range. Source: at::dim_list_to_bitset.
template <CallArguments Call>
constexpr Refusal read_dims(const Call& call, Parameter p, std::size_t rank, std::uint32_t& bits) noexcept {
  if (rank > 32) return {"a tensor has too many dimensions", ErrorCode::invalid_shape};
  bits = 0;
  const auto add = [&](const auto& item) -> Refusal {
    std::int64_t dim = 0;
    if (!call.read_integer(item, dim)) return {"a dimension is not known"};
    if (!wrap_dim(dim, rank)) return {"a dimension is outside the tensor's rank", ErrorCode::out_of_range};
    if ((bits >> dim & 1u) != 0) return {"a dimension is named twice"};
    bits |= std::uint32_t{1} << dim;
    return {};
  };
  if (const auto* const list = call.find(p); list != nullptr) {
    const auto items = call.items(*list);
    const auto* item = items.data();
    for (std::size_t i = items.size(); i > 0; --i)
      if (const Refusal wrong = add(*item++)) return wrong;
    std::int64_t number = 0;
    if (items.size() == 0 && call.read_integer(*list, number))
      if (const Refusal wrong = add(*list)) return wrong;
  }
  if (bits == 0) bits = rank == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << rank) - 1;
  return {};
}

/// Reads a call of that reduction. Errors: invalid_argument, invalid_shape, out_of_range.
template <CallArguments Call>
constexpr Refusal read_reduction(const Call& call, const ReductionOperator& op, ReductionView& view) noexcept {
  view.function = op.function;
  view.input = call.value({"self", 0});
  if (view.input == no_id) return {"an operand is no tensor"};
  view.converts = op.typed && call.find(op.dtype()) != nullptr;
  const std::size_t rank = call.rank(view.input);
  if (op.all) {
    if (rank > 31) return {"a tensor has too many dimensions", ErrorCode::invalid_shape};
    view.dims = (std::uint32_t{1} << rank) - 1;
    return {};
  }
  if (const Refusal wrong = read_dims(call, {"dim", 1}, rank, view.dims)) return wrong;
  return read_flag(call, {"keepdim", 2}, false, view.keepdim) ? Refusal{} : Refusal{"keepdim is not known"};
}
/// Reads a call of any reduction.
template <CallArguments Call>
constexpr Refusal read_reduction(const Call& call, ReductionView& view) noexcept {
  const ReductionOperator* const op = find_row(reduction_operators, call);
  return op == nullptr ? Refusal{"the operator is no reduction"} : read_reduction(call, *op, view);
}

}  // namespace davit::operators
