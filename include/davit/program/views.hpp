// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
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
  transpose,    ///< doing it again undoes it
  permute,
  movedim,
  select,
  slice,
  unbind,       ///< a list of selections
  split,        ///< a list of slices
  other,        ///< in another way
};

struct ViewOperator {
  std::string_view name;  ///< without overload
  ViewKind kind = ViewKind::none;
};
/// Sorted by name. Source: the alias annotations of torch's operator schemas; dropout answers its input when not training.
inline constexpr auto view_operators = std::to_array<ViewOperator>({
    {"aten._conj", ViewKind::other},
    {"aten._reshape_alias", ViewKind::shape},
    {"aten.adjoint", ViewKind::other},
    {"aten.alias", ViewKind::same},
    {"aten.as_strided", ViewKind::other},
    {"aten.as_strided_", ViewKind::other},
    {"aten.broadcast_to", ViewKind::other},
    {"aten.chunk", ViewKind::split},
    {"aten.contiguous", ViewKind::maybe_same},
    {"aten.detach", ViewKind::same},
    {"aten.detach_", ViewKind::same},
    {"aten.diagonal", ViewKind::other},
    {"aten.dropout", ViewKind::maybe_same},
    {"aten.expand", ViewKind::other},
    {"aten.expand_as", ViewKind::other},
    {"aten.flatten", ViewKind::maybe_shape},
    {"aten.imag", ViewKind::other},
    {"aten.lift_fresh", ViewKind::same},
    {"aten.mT", ViewKind::transpose},
    {"aten.moveaxis", ViewKind::movedim},
    {"aten.movedim", ViewKind::movedim},
    {"aten.narrow", ViewKind::other},
    {"aten.numpy_T", ViewKind::transpose},
    {"aten.permute", ViewKind::permute},
    {"aten.ravel", ViewKind::maybe_shape},
    {"aten.real", ViewKind::other},
    {"aten.reshape", ViewKind::maybe_shape},
    {"aten.reshape_as", ViewKind::maybe_shape},
    {"aten.select", ViewKind::select},
    {"aten.slice", ViewKind::slice},
    {"aten.split", ViewKind::split},
    {"aten.split_with_sizes", ViewKind::split},
    {"aten.squeeze", ViewKind::shape},
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
});

/// How the operator of that name ("aten.select.int") shows its first argument. O(log rows).
template <class = void>
[[nodiscard]] constexpr ViewKind view_kind(std::string_view target) noexcept {
  const std::string_view name = target.substr(0, target.rfind('.'));
  std::size_t low = 0;
  std::size_t high = view_operators.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (view_operators[middle].name == name) return target == "aten.view.dtype" ? ViewKind::other : view_operators[middle].kind;
    (view_operators[middle].name < name ? low : high) = view_operators[middle].name < name ? middle + 1 : middle;
  }
  return ViewKind::none;
}

/// Operators that let a tensor show its own storage in another form: who reads it later reads what they answer, which is a view.
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

/// True for operators that compute nothing: views, copies, what puts tensors together or fills one, arithmetic on sizes.
template <class = void>
[[nodiscard]] constexpr bool only_moves(std::string_view target) noexcept {
  if (!target.starts_with("aten.")) return target.starts_with("_operator.");
  const std::string_view name = target.substr(5, target.rfind('.') - 5);
  for (const std::string_view one : {"_to_copy", "_unsafe_view", "arange", "cat", "clone", "constant_pad_nd", "copy", "empty", "full", "full_like", "repeat",
                                     "sym_size", "zeros", "ones"})
    if (name == one) return true;
  return view_kind(target) != ViewKind::none;
}

/// The argument that an operator calls `self`, or its first one; nullptr if that is no value.
template <class = void>
[[nodiscard]] constexpr const Argument* self_argument(GraphModuleView graph, const OperatorCall& call) noexcept {
  const Argument* self = call.inputs.empty() ? nullptr : &call.inputs.front();
  for (const Argument& input : call.inputs)
    if (graph.str(input.name) == "self") self = &input;
  return self != nullptr && self->is_value() ? self : nullptr;
}

/// The argument whose storage the call's outputs show for certain; nullptr if there is none.
template <class = void>
[[nodiscard]] constexpr const Argument* viewed(GraphModuleView graph, const OperatorCall& call) noexcept {
  const ViewKind kind = view_kind(call.target);
  if (kind == ViewKind::none || kind == ViewKind::maybe_same || kind == ViewKind::maybe_shape) return nullptr;
  return self_argument(graph, call);
}

}  // namespace davit
