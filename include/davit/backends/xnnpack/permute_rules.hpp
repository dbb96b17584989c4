// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] constexpr const char* refuses_permute(const Call& call) noexcept {
  operators::PermutationView view;
  if (const operators::Refusal wrong = operators::read_permutation(call.arguments(), view)) return wrong.what;
  if (const char* reason = refuses_data_movement(call)) return reason;
  if (call.rank(call.output()) != view.rank) return "a result of another rank";
  for (std::size_t d = 0; d < view.rank; ++d)
    if (!same_dim(call.dims(view.input)[view.from[d]], call.dims(call.output())[d])) return "sizes that do not fit";
  return nullptr;
}
inline void emit_permute(Planner& p, const Call& call) {
  operators::PermutationView view;
  if (operators::read_permutation(call.arguments(), view)) return;  // which refuses_permute has asked
  const ValueId x = view.input;
  const ValueId y = call.output();
  ValueState& state = p.state(y);
  if (p.state(x).constant) {
    const std::vector<std::int64_t> order(view.from.begin(),
                                          view.from.begin() + static_cast<std::ptrdiff_t>(view.rank));
    state.constant = true;
    state.packed = p.state(x).packed;
    if (!state.packed) {
      state.tensor = permuted(p.state(x).tensor, order);
    } else {
      state.weights = p.state(x).weights;
      state.weights.integers = permuted(state.weights.integers, order);
      for (std::size_t d = 0; d < view.rank; ++d)
        if (view.from[d] == p.state(x).weights.axis) state.weights.axis = d;
    }
    return;
  }
  inherit_quantization(p, x, y);
  const std::uint32_t any = p.raw(x);
  const bool movable = p.buffer_of(any).place != Place::input && p.plan.slots[any].pitch == 0;
  const std::uint32_t from = movable ? any : p.need_raw(x, p.plan.slots[any].order);
  std::array<std::uint8_t, max_dims> number{};  // of an old dimension among the new ones
  for (std::size_t d = 0; d < view.rank; ++d)
    if (view.from[d] < max_dims) number[view.from[d]] = static_cast<std::uint8_t>(d);
  DimOrder order = p.plan.slots[from].order;
  for (std::size_t i = 0; i < order.rank; ++i) order.dim[i] = number[order.dim[i]];
  p.alias(y, from, order);
}

}  // namespace detail

inline constexpr auto permute_rules = std::to_array<Rule>({
    {"aten.permute.default", detail::refuses_permute, detail::emit_permute},
    {"aten.t.default", detail::refuses_permute, detail::emit_permute},
    {"aten.transpose.int", detail::refuses_permute, detail::emit_permute},
});

}  // namespace davit::xnnpack_parts
