// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/rule.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// The permutation of permute, transpose and t; empty if it is none.
struct Permutation {
  std::array<std::int64_t, max_dims> dim{};
  std::size_t rank = 0;
};
[[nodiscard]] constexpr std::optional<Permutation> permutation_of(const Call& call) noexcept {
  const std::size_t rank = call.rank(call.value("self"));
  Permutation out{.dim = {}, .rank = rank};
  for (std::size_t d = 0; d < rank; ++d) out.dim[d] = static_cast<std::int64_t>(d);
  if (call.target() == "aten.permute.default") {
    const std::span<const Argument> dims = call.list("dims");
    if (dims.size() != rank) return std::nullopt;
    std::uint32_t seen = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t from = dims[d].kind == ArgumentKind::int_ ? call.axis(dims[d].payload, rank) : -1;
      if (from < 0 || (seen >> static_cast<unsigned>(from) & 1) != 0) return std::nullopt;
      seen |= 1u << static_cast<unsigned>(from);
      out.dim[d] = from;
    }
    return out;
  }
  const std::int64_t a = call.target() == "aten.t.default" ? 0 : call.axis(call.integer("dim0", INT64_MIN), rank);
  const std::int64_t b = call.target() == "aten.t.default" ? static_cast<std::int64_t>(rank) - 1
                                                           : call.axis(call.integer("dim1", INT64_MIN), rank);
  if (a < 0 || b < 0) return std::nullopt;
  std::swap(out.dim[static_cast<std::size_t>(a)], out.dim[static_cast<std::size_t>(b)]);
  return out;
}
[[nodiscard]] constexpr const char* refuses_permute(const Call& call) noexcept {
  if (const char* reason = refuses_data_movement(call)) return reason;
  const std::optional<Permutation> p = permutation_of(call);
  if (!p || call.rank(call.output()) != p->rank) return "not a permutation";
  for (std::size_t d = 0; d < p->rank; ++d)
    if (!same_dim(call.dims(call.value("self"))[static_cast<std::size_t>(p->dim[d])], call.dims(call.output())[d]))
      return "sizes that do not fit";
  return nullptr;
}
inline void emit_permute(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const ValueId y = call.output();
  const Permutation permutation = *permutation_of(call);
  ValueState& state = p.state(y);
  if (p.state(x).constant) {
    const std::span<const std::int64_t> order(permutation.dim.data(), permutation.rank);
    state.constant = true;
    state.packed = p.state(x).packed;
    if (!state.packed) {
      state.tensor = permuted(p.state(x).tensor, order);
    } else {
      state.weights = p.state(x).weights;
      state.weights.integers = permuted(state.weights.integers, order);
      for (std::size_t d = 0; d < permutation.rank; ++d)
        if (static_cast<std::size_t>(permutation.dim[d]) == p.state(x).weights.axis) state.weights.axis = d;
    }
    return;
  }
  inherit_quantization(p, x, y);
  const std::uint32_t any = p.raw(x);
  const bool movable = p.buffer_of(any).place != Place::input && p.plan.slots[any].pitch == 0;
  const std::uint32_t from = movable ? any : p.need_raw(x, p.plan.slots[any].order);
  std::array<std::uint8_t, max_dims> number{};  // of an old dimension among the new ones
  for (std::size_t d = 0; d < permutation.rank; ++d)
    if (const auto old = static_cast<std::size_t>(permutation.dim[d]); old < max_dims) number[old] = static_cast<std::uint8_t>(d);
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
