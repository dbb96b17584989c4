// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/operator_call.hpp"

namespace davit {

/// Returns how the outputs of an operator ("aten.select.int") alias its first argument. O(size of the name).
template <class = void>
[[nodiscard]] constexpr ViewKind view_kind(std::string_view target) noexcept {
  return target == "aten.view.dtype" ? ViewKind::other : facts_of(target).view;
}
/// Returns how the outputs of a call alias its arguments. einsum and cartesian_prod of several tensors make a new
/// tensor.
template <class = void>
[[nodiscard]] constexpr ViewKind view_kind(GraphModuleView graph, const OperatorCall& call) noexcept {
  const ViewKind kind = view_kind(call.target);
  if (!call.target.starts_with("aten.einsum.") && !call.target.starts_with("aten.cartesian_prod.")) return kind;
  for (const Argument& input : call.inputs)
    if (input.is_list() && input.items.count > 1 && graph.args(input.items)[0].is_value()) return ViewKind::none;
  return kind;
}

/// True for operators that compute nothing: views, copies, concatenations, fills, arithmetic on sizes.
template <class = void>
[[nodiscard]] constexpr bool is_data_movement(std::string_view target) noexcept {
  if (!target.starts_with("aten.")) return target.starts_with("_operator.");
  const OperatorFacts& facts = facts_of(target);
  return facts.data_movement || (facts.view != ViewKind::none && !facts.computes);
}

/// Returns the argument that the call's outputs certainly alias; nullptr if there is none.
template <class = void>
[[nodiscard]] constexpr const Argument* viewed(GraphModuleView graph, const OperatorCall& call) noexcept {
  const ViewKind kind = view_kind(call.target);
  for (const ViewKind open : {ViewKind::none, ViewKind::maybe_same, ViewKind::maybe_shape, ViewKind::unknown})
    if (kind == open) return nullptr;
  return self_argument(graph, call);
}

/// True if a value has contiguous strides, by the export's example sizes and strides.
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

/// True if an output of a call aliases its first argument; for an operator that may copy, by the export's example
/// strides.
template <class = void>
[[nodiscard]] constexpr bool shows_storage(GraphModuleView graph, const OperatorCall& call, ValueId output) noexcept {
  const ViewKind kind = view_kind(graph, call);
  const Argument* self = self_argument(graph, call);
  if (kind == ViewKind::none || kind == ViewKind::unknown || self == nullptr) return false;
  const Value &of = graph.values[self->value()], &v = graph.values[output];
  // a copy is contiguous; a view is contiguous if its base is
  if (kind == ViewKind::maybe_shape) return is_contiguous(graph, self->value()) || !is_contiguous(graph, output);
  if (kind != ViewKind::maybe_same) return true;
  const Argument* copies = find_argument(graph, call, "copy", no_id);
  const auto equal = [](const Dim& x, const Dim& y) { return x.value == y.value && x.is_static() == y.is_static(); };
  return v.dtype == of.dtype && std::ranges::equal(graph.dims_of(v.strides), graph.dims_of(of.strides), equal) &&
         (copies == nullptr || copies->payload == 0);
}

}  // namespace davit
