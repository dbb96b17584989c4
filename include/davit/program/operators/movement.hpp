// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "davit/core/tensor_view.hpp"
#include "davit/ops/families/movement.hpp"
#include "davit/ops/families/slicing.hpp"
#include "davit/ops/families/joining.hpp"
#include "davit/ops/families/shapes.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Maximum rank of a tensor whose element movement is read.
inline constexpr std::size_t max_moved_dims = max_rank;

/// Arguments of a permutation.
struct PermutationView {
  ValueId input = no_id;
  std::size_t rank = 0;
  std::array<std::uint8_t, max_moved_dims> from{};  ///< dimension d of the result is dimension from[d] of the input

  [[nodiscard]] constexpr bool is_identity() const noexcept {
    for (std::size_t d = 0; d < rank; ++d)
      if (from[d] != d) return false;
    return true;
  }
  /// Returns the permutation that applies `first`, of the same rank, and then this one.
  [[nodiscard]] constexpr PermutationView after(const PermutationView& first) const noexcept {
    PermutationView both{first.input, rank, {}};
    for (std::size_t d = 0; d < rank; ++d) both.from[d] = first.from[from[d]];
    return both;
  }

  friend constexpr bool operator==(const PermutationView&, const PermutationView&) = default;
};

/// Reads a call of that permutation. Errors: invalid_argument, invalid_shape, out_of_range.
template <CallArguments Call>
constexpr Refusal read_permutation(const Call& call, const PermutationOperator& op, PermutationView& view) noexcept {
  view.input = call.value({"self", 0});
  if (view.input == no_id) return {"an operand is no tensor"};
  view.rank = call.rank(view.input);
  if (view.rank > max_moved_dims) return {"a tensor has too many dimensions", ErrorCode::invalid_shape};
  for (std::size_t d = 0; d < view.rank; ++d) view.from[d] = static_cast<std::uint8_t>(d);
  if (op.form == PermutationForm::list) {
    const auto* const list = call.find({"dims", 1});
    if (list == nullptr) return {"a permutation needs one entry per dimension of the tensor"};
    const auto items = call.items(*list);
    if (items.size() != view.rank) return {"a permutation needs one entry per dimension of the tensor"};
    const auto* const dims = items.data();
    std::uint32_t seen = 0;
    for (std::size_t d = 0; d < view.rank; ++d) {
      std::int64_t dim = 0;
      if (!call.read_integer(dims[d], dim)) return {"a dimension is not known"};
      if (!wrap_dim(dim, view.rank)) return {"a dimension is outside the tensor's rank", ErrorCode::out_of_range};
      if ((seen >> dim & 1u) != 0) return {"a dimension is named twice"};
      seen |= std::uint32_t{1} << dim;
      view.from[d] = static_cast<std::uint8_t>(dim);
    }
    return {};
  }
  std::int64_t a = 0;
  std::int64_t b = 1;
  if (op.form == PermutationForm::pair) {
    const auto* const first = call.find({"dim0", 1});
    const auto* const second = call.find({"dim1", 2});
    if (first == nullptr || second == nullptr || !call.read_integer(*first, a) || !call.read_integer(*second, b))
      return {"a dimension is not known"};
    if (!wrap_dim(a, view.rank) || !wrap_dim(b, view.rank))
      return {"a dimension is outside the tensor's rank", ErrorCode::out_of_range};
  } else if (view.rank > 2) {
    return {"t takes at most two dimensions", ErrorCode::invalid_shape};
  } else if (view.rank < 2) {
    return {};
  }
  if (view.rank == 0) return {};
  view.from[static_cast<std::size_t>(a)] = static_cast<std::uint8_t>(b);
  view.from[static_cast<std::size_t>(b)] = static_cast<std::uint8_t>(a);
  return {};
}
/// Reads a call of any permutation.
template <CallArguments Call>
constexpr Refusal read_permutation(const Call& call, PermutationView& view) noexcept {
  const PermutationOperator* const op = find_row(permutation_operators, call);
  return op == nullptr ? Refusal{"the operator is no permutation"} : read_permutation(call, *op, view);
}

/// Reads a dimension of a tensor of rank `rank`, counted from the front; 0 if omitted. Errors: invalid_argument,
/// out_of_range.
template <CallArguments Call>
constexpr Refusal read_dim(const Call& call, Parameter p, std::size_t rank, std::size_t& dim) noexcept {
  std::int64_t number = 0;
  if (!read_integer(call, p, 0, number)) return {"the dimension is not known"};
  if (rank == 0 || !wrap_dim(number, rank)) return {"the dimension is out of range", ErrorCode::out_of_range};
  dim = static_cast<std::size_t>(number);
  return {};
}

/// Returns the table's row for a call that keeps the elements and their order; nullptr for others, and for active
/// dropout.
template <CallArguments Call>
[[nodiscard]] constexpr const SameElementsOperator* find_same_elements(const Call& call) noexcept {
  const SameElementsOperator* const op = find_row(same_elements_operators, call);
  if (op == nullptr || !call.is("aten.dropout.default")) return op;
  bool train = true;
  return read_flag(call, {"train", 2}, true, train) && !train ? op : nullptr;
}
/// Returns the input of a call that keeps the elements and their order; no_id for others.
template <CallArguments Call>
[[nodiscard]] constexpr ValueId read_same_elements(const Call& call) noexcept {
  const SameElementsOperator* const op = find_same_elements(call);
  return op == nullptr ? no_id : call.value({op->input, 0});
}

/// Arguments of a slice or selection along one dimension.
struct SliceView {
  ValueId input = no_id;
  std::size_t dim = 0;
  std::int64_t start = 0;  ///< within the dimension; unnormalized if its size is unknown
  std::int64_t step = 1;
  std::int64_t length = -1;  ///< number of elements; -1 if only the result's sizes tell
  bool selects = false;      ///< takes one index and removes the dimension
  ValueId source = no_id;    ///< the values to write there

  friend constexpr bool operator==(const SliceView&, const SliceView&) = default;
};

/// Reads a call of that slice or selection. Errors: invalid_argument, invalid_shape, out_of_range.
template <CallArguments Call>
constexpr Refusal read_slice(const Call& call, const SliceOperator& op, SliceView& view) noexcept {
  view.input = call.value({"self", 0});
  view.selects = op.selects;
  if (op.puts) view.source = call.value({"src", 1});
  if (view.input == no_id || (op.puts && view.source == no_id)) return {"an operand is no tensor"};
  if (const Refusal wrong = read_dim(call, op.at("dim", 1), call.rank(view.input), view.dim)) return wrong;
  if (!read_integer(call, op.at(view.selects ? "index" : "start", 2), 0, view.start)) return {"an index is not known"};
  if (!view.selects && !read_integer(call, op.at("step", 4), 1, view.step)) return {"the step is not known"};
  if (view.step < 1) return {"the step must be positive"};
  const std::int64_t size = call.size(view.input, view.dim);
  if (size < 0) return view.start < 0 ? Refusal{"a negative index needs a dimension of known size"} : Refusal{};
  if (view.selects && (view.start < -size || view.start >= size))
    return {"the index is outside the dimension", ErrorCode::out_of_range};
  const auto clamped = [size](std::int64_t at) { return at < -size ? 0 : at < 0 ? at + size : at > size ? size : at; };
  view.start = clamped(view.start);
  view.length = 1;
  if (view.selects) return {};
  std::int64_t end = size;
  view.length = -1;
  if (!read_integer(call, op.at("end", 3), size, end)) return {};
  end = clamped(end);
  view.length = end <= view.start ? 0 : (end - view.start - 1) / view.step + 1;
  return {};
}
/// Reads a call of any slice or selection.
template <CallArguments Call>
constexpr Refusal read_slice(const Call& call, SliceView& view) noexcept {
  const SliceOperator* const op = find_row(slice_operators, call);
  return op == nullptr ? Refusal{"the operator is no slice"} : read_slice(call, *op, view);
}

/// Reads the operand and the dimension of a split. Errors: invalid_argument, out_of_range.
template <CallArguments Call>
constexpr Refusal read_split(const Call& call, SliceView& whole) noexcept {
  if (std::ranges::none_of(split_operators, [&](const char* target) { return call.is(target); }))
    return {"the operator is no split"};
  whole.input = call.value({"self", 0});
  if (whole.input == no_id) return {"an operand is no tensor"};
  return read_dim(call, {"dim", 2}, call.rank(whole.input), whole.dim);
}
/// Reads the part of its operand that result `v` of a split holds. Errors: as above; invalid_shape for a part of
/// another rank; a part of unknown size before it.
template <CallArguments Call>
constexpr Refusal read_part(const Call& call, ValueId v, SliceView& part) noexcept {
  if (const Refusal wrong = read_split(call, part)) return wrong;
  std::int64_t end = 0;
  for (const auto& output : call.call().outputs)
    for (const auto& item : call.items(output)) {
      if (!item.is_value() || call.rank(item.value()) != call.rank(part.input))
        return {"a part has another rank", ErrorCode::invalid_shape};
      part.start = end;
      part.length = call.size(item.value(), part.dim);
      if (part.length < 0) return {"the size of a part is not known"};
      if (item.value() == v) return {};
      if (__builtin_add_overflow(part.start, part.length, &end))
        return {"the parts are larger than any tensor", ErrorCode::invalid_shape};
    }
  return {"the value is no part"};
}

/// Arguments of a padding.
struct PadView {
  ValueId input = no_id;
  std::size_t rank = 0;
  std::array<std::int64_t, max_moved_dims> before{};  ///< per dimension; negative crops
  std::array<std::int64_t, max_moved_dims> after{};
  double value = 0;  ///< of a constant padding

  friend constexpr bool operator==(const PadView&, const PadView&) = default;
};

/// Reads the input of any padding, and from the list of that name two numbers per dimension, the last dimension first.
/// Errors: invalid_argument, invalid_shape, out_of_range.
template <CallArguments Call>
constexpr Refusal read_pads(const Call& call, const char* name, PadView& view) noexcept {
  view.input = call.value({"self", 0});
  if (view.input == no_id) return {"an operand is no tensor"};
  view.rank = call.rank(view.input);
  if (view.rank > max_moved_dims) return {"a tensor has too many dimensions", ErrorCode::invalid_shape};
  const auto* const list = call.find({name, 1});
  if (list == nullptr) return {"the padding is missing"};
  const auto items = call.items(*list);
  std::int64_t alone = 0;
  if (items.size() % 2 != 0 || items.size() / 2 > view.rank || (items.size() == 0 && call.read_integer(*list, alone)))
    return {"padding takes two numbers for each dimension, and no more dimensions than the tensor has"};
  const auto* const numbers = items.data();
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::int64_t number = 0;
    if (!call.read_integer(numbers[i], number)) return {"padding must be integers"};
    if (number < -(std::int64_t{1} << 40) || number > (std::int64_t{1} << 40))
      return {"the padding is too large", ErrorCode::out_of_range};
    (i % 2 == 0 ? view.before : view.after)[view.rank - 1 - i / 2] = number;
  }
  return {};
}
/// Reads a call of constant_pad_nd. Errors: as above.
template <CallArguments Call>
constexpr Refusal read_pad(const Call& call, PadView& view) noexcept {
  if (!call.is("aten.constant_pad_nd.default")) return {"the operator is no padding with a constant"};
  if (const Refusal wrong = read_pads(call, "pad", view)) return wrong;
  return read_number(call, {"value", 2}, 0, view.value) ? Refusal{} : Refusal{"the value is no number"};
}

/// Reads the dimension of a cat of tensors of rank `rank`. Errors: invalid_argument, out_of_range.
template <CallArguments Call>
constexpr Refusal read_cat(const Call& call, std::size_t rank, std::size_t& dim) noexcept {
  if (!call.is("aten.cat.default")) return {"the operator joins no tensors"};
  const auto* const list = call.find({"tensors", 0});
  if (list == nullptr || call.items(*list).size() == 0) return {"its operands are no list"};
  return read_dim(call, {"dim", 1}, rank, dim);
}

}  // namespace davit::operators
