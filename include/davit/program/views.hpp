// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/program/graph.hpp"
#include "davit/program/operator_call.hpp"

namespace davit {

/// How an operator's outputs show the storage of its first argument.
enum class ViewKind : std::uint8_t {
  none,         ///< they do not
  same,         ///< all of it, as it is
  maybe_same,   ///< as it is, or a copy
  shape,        ///< the elements in their order, with other sizes
  maybe_shape,  ///< the same, or a copy
  transpose,    ///< doing it again undoes it; conj too
  permute,
  movedim,
  select,
  slice,
  diagonal,
  unbind,   ///< a list of selections
  split,    ///< a list of slices
  other,    ///< in another way
  unknown,  ///< all of them, parts, or a copy, and not of the first argument alone: its parts tell
};

struct ViewOperator {
  std::string_view name;  ///< without overload
  ViewKind kind = ViewKind::none;
  bool apart = false;  ///< its parts say more: functionalize takes it apart first
};
/// Sorted by name. Source: the alias annotations of torch's operator schemas, and what the kernels of those without
/// answer in torch 2.6 (data_ptr): dropout its input when not training, einsum of one tensor a view.
inline constexpr auto view_operators = std::to_array<ViewOperator>({
    {"aten._autocast_to_full_precision", ViewKind::maybe_same},
    {"aten._autocast_to_reduced_precision", ViewKind::maybe_same},
    {"aten._cast_Byte", ViewKind::maybe_same},
    {"aten._cast_Char", ViewKind::maybe_same},
    {"aten._cast_Double", ViewKind::maybe_same},
    {"aten._cast_Float", ViewKind::maybe_same},
    {"aten._cast_Half", ViewKind::maybe_same},
    {"aten._cast_Int", ViewKind::maybe_same},
    {"aten._cast_Long", ViewKind::maybe_same},
    {"aten._cast_Short", ViewKind::maybe_same},
    {"aten._conj", ViewKind::transpose},
    {"aten._neg_view", ViewKind::transpose},
    {"aten._reshape_alias", ViewKind::shape},
    {"aten.adjoint", ViewKind::transpose, true},
    {"aten.alias", ViewKind::same},
    {"aten.alpha_dropout", ViewKind::unknown, true},
    {"aten.as_strided", ViewKind::other},
    {"aten.as_strided_", ViewKind::other},
    {"aten.atleast_1d", ViewKind::unknown, true},
    {"aten.atleast_2d", ViewKind::unknown, true},
    {"aten.atleast_3d", ViewKind::unknown, true},
    {"aten.broadcast_tensors", ViewKind::unknown, true},
    {"aten.broadcast_to", ViewKind::other},
    {"aten.cartesian_prod", ViewKind::unknown, true},
    {"aten.chunk", ViewKind::split},
    {"aten.conj", ViewKind::transpose, true},
    {"aten.conj_physical", ViewKind::unknown, true},
    {"aten.contiguous", ViewKind::maybe_same},
    {"aten.data", ViewKind::same},
    {"aten.detach", ViewKind::same},
    {"aten.detach_", ViewKind::same},
    {"aten.diagonal", ViewKind::diagonal},
    {"aten.dropout", ViewKind::unknown, true},
    {"aten.dsplit", ViewKind::other, true},
    {"aten.einsum", ViewKind::unknown, true},
    {"aten.expand", ViewKind::other},
    {"aten.expand_as", ViewKind::other},
    {"aten.feature_alpha_dropout", ViewKind::unknown, true},
    {"aten.feature_dropout", ViewKind::unknown, true},
    {"aten.flatten", ViewKind::maybe_shape},
    {"aten.hsplit", ViewKind::other, true},
    {"aten.imag", ViewKind::other},
    {"aten.lift", ViewKind::same},
    {"aten.lift_fresh", ViewKind::same},
    {"aten.linalg_diagonal", ViewKind::other},
    {"aten.mH", ViewKind::transpose, true},
    {"aten.mT", ViewKind::transpose},
    {"aten.matrix_H", ViewKind::transpose, true},
    {"aten.meshgrid", ViewKind::unknown, true},
    {"aten.moveaxis", ViewKind::movedim},
    {"aten.movedim", ViewKind::movedim},
    {"aten.narrow", ViewKind::other, true},
    {"aten.numpy_T", ViewKind::transpose},
    {"aten.permute", ViewKind::permute},
    {"aten.pin_memory", ViewKind::same},
    {"aten.positive", ViewKind::same},
    {"aten.ravel", ViewKind::maybe_shape},
    {"aten.real", ViewKind::other},
    {"aten.reshape", ViewKind::maybe_shape},
    {"aten.reshape_as", ViewKind::maybe_shape},
    {"aten.resolve_conj", ViewKind::maybe_same},
    {"aten.resolve_neg", ViewKind::maybe_same},
    {"aten.select", ViewKind::select},
    {"aten.slice", ViewKind::slice},
    {"aten.split", ViewKind::split},
    {"aten.split_with_sizes", ViewKind::split},
    {"aten.squeeze", ViewKind::shape},
    {"aten.sum_to_size", ViewKind::unknown, true},
    {"aten.swapaxes", ViewKind::transpose},
    {"aten.swapdims", ViewKind::transpose},
    {"aten.t", ViewKind::transpose},
    {"aten.tensor_split", ViewKind::split},
    {"aten.to", ViewKind::maybe_same},
    {"aten.transpose", ViewKind::transpose},
    {"aten.type_as", ViewKind::maybe_same},
    {"aten.unbind", ViewKind::unbind},
    {"aten.unflatten", ViewKind::shape},
    {"aten.unfold", ViewKind::other},
    {"aten.unsqueeze", ViewKind::shape},
    {"aten.view", ViewKind::shape},
    {"aten.view_as", ViewKind::shape},
    {"aten.view_as_complex", ViewKind::other},
    {"aten.view_as_real", ViewKind::other},
    {"aten.vsplit", ViewKind::other, true},
});

/// The row of the operator of that name ("aten.select.int"); nullptr if it answers values of its own. O(log rows).
template <class = void>
[[nodiscard]] constexpr const ViewOperator* find_view(std::string_view target) noexcept {
  const std::string_view name = target.substr(0, target.rfind('.'));
  std::size_t low = 0;
  std::size_t high = view_operators.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (view_operators[middle].name == name) return &view_operators[middle];
    (view_operators[middle].name < name ? low : high) = view_operators[middle].name < name ? middle + 1 : middle;
  }
  return nullptr;
}
/// How it shows its first argument.
template <class = void>
[[nodiscard]] constexpr ViewKind view_kind(std::string_view target) noexcept {
  const ViewOperator* row = find_view(target);
  return row == nullptr ? ViewKind::none : target == "aten.view.dtype" ? ViewKind::other : row->kind;
}
/// How a call's outputs show its arguments: of several tensors, einsum and cartesian_prod make a new one.
template <class = void>
[[nodiscard]] constexpr ViewKind view_kind(GraphModuleView graph, const OperatorCall& call) noexcept {
  const ViewKind kind = view_kind(call.target);
  if (!call.target.starts_with("aten.einsum.") && !call.target.starts_with("aten.cartesian_prod.")) return kind;
  for (const Argument& input : call.inputs)
    if (input.is_list() && input.items.count > 1 && graph.args(input.items)[0].is_value()) return ViewKind::none;
  return kind;
}

/// Operators that let a tensor show its own storage in another form: who reads it later reads what they answer, which
/// is a view.
struct FormChange {
  std::string_view target, view;
};
inline constexpr auto form_changes = std::to_array<FormChange>({
    {"aten.as_strided_.default", "aten.as_strided.default"},
    {"aten.detach_.default", "aten.detach.default"},
    {"aten.squeeze_.default", "aten.squeeze.default"},
    {"aten.squeeze_.dim", "aten.squeeze.dim"},
    {"aten.squeeze_.dims", "aten.squeeze.dims"},
    {"aten.swapaxes_.default", "aten.swapaxes.default"},
    {"aten.swapdims_.default", "aten.swapdims.default"},
    {"aten.t_.default", "aten.t.default"},
    {"aten.transpose_.default", "aten.transpose.int"},
    {"aten.unsqueeze_.default", "aten.unsqueeze.default"},
});
/// The view that such an operator answers; empty for others. O(rows).
[[nodiscard]] constexpr std::string_view view_of_form_change(std::string_view target) noexcept {
  for (const FormChange& row : form_changes)
    if (row.target == target) return row.view;
  return {};
}

/// True for operators that compute nothing: views, copies, what puts tensors together or fills one, arithmetic on
/// sizes.
template <class = void>
[[nodiscard]] constexpr bool only_moves(std::string_view target) noexcept {
  if (!target.starts_with("aten.")) return target.starts_with("_operator.");
  const std::string_view name = target.substr(5, target.rfind('.') - 5);
  for (const std::string_view one : {"_to_copy", "_unsafe_view", "arange", "cat", "clone", "constant_pad_nd", "copy",
                                     "empty", "full", "full_like", "repeat", "sym_size", "zeros", "ones"})
    if (name == one) return true;
  return view_kind(target) != ViewKind::none && name != "conj_physical" && name != "einsum" && name != "sum_to_size";
}

/// The argument whose storage the call's outputs show for certain; nullptr if there is none.
template <class = void>
[[nodiscard]] constexpr const Argument* viewed(GraphModuleView graph, const OperatorCall& call) noexcept {
  const ViewKind kind = view_kind(call.target);
  for (const ViewKind open : {ViewKind::none, ViewKind::maybe_same, ViewKind::maybe_shape, ViewKind::unknown})
    if (kind == open) return nullptr;
  return self_argument(graph, call);
}

/// True if a value's strides are those of a dense tensor, as far as the export saw: by the example values of sizes and
/// strides.
template <class = void>
[[nodiscard]] constexpr bool is_contiguous(GraphModuleView graph, ValueId v) noexcept {
  const std::span<const Dim> sizes = graph.dims_of(graph.values[v].sizes),
                             strides = graph.dims_of(graph.values[v].strides);
  std::int64_t step = 1;
  for (std::size_t d = strides.size() == sizes.size() ? sizes.size() : 0; d-- > 0;) {
    if (sizes[d].value != 1 && strides[d].value != step) return false;
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(sizes[d].value, 1), &step)) return false;
  }
  return true;
}

/// True if an output of a call shows the storage of its first argument; of what may be a copy, as far as the export
/// saw.
template <class = void>
[[nodiscard]] constexpr bool shows_storage(GraphModuleView graph, const OperatorCall& call, ValueId output) noexcept {
  const ViewKind kind = view_kind(graph, call);
  const Argument* self = self_argument(graph, call);
  if (kind == ViewKind::none || kind == ViewKind::unknown || self == nullptr) return false;
  const Value &of = graph.values[self->value()], &v = graph.values[output];
  // a copy is contiguous; a view is so if what it shows is
  if (kind == ViewKind::maybe_shape) return is_contiguous(graph, self->value()) || !is_contiguous(graph, output);
  if (kind != ViewKind::maybe_same) return true;
  const Argument* copies = find_argument(graph, call, "copy", no_id);
  const auto equal = [](const Dim& x, const Dim& y) { return x.value == y.value && x.is_static() == y.is_static(); };
  return v.dtype == of.dtype && std::ranges::equal(graph.dims_of(v.strides), graph.dims_of(of.strides), equal) &&
         (copies == nullptr || copies->payload == 0);
}

}  // namespace davit
