// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/elementwise.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/core/promote.hpp"

/// Static lowering writes the steps of a node: calls of static kernels. This header reads operands; each of the other
/// headers has the rows of a family of operators.
namespace davit::static_lowering {

namespace sf = static_kernels;

using int32 = std::int32_t;  // a cast compiles faster than a call

/// An operand: a tensor or a number.
struct Operand {
  ValueId value = no_id;                      ///< no_id: the number
  ScalarType number = ScalarType::undefined;  ///< float32, int64 or bool: its category
  double real = 0;
  std::int64_t integer = 0;

  /// The number for kernels on that type; `exact`: not rounded to a 16-bit float.
  [[nodiscard]] constexpr sf::NumberParam param(ScalarType type, bool exact = false) const noexcept {
    return sf::number_param(type, exact || !is_floating(type) ? real : rounded_to(type, real),
                            type == ScalarType::bool_ ? std::int64_t{real != 0} : integer);
  }
};
[[nodiscard]] constexpr Operand number_operand(double number) noexcept {
  return {.number = ScalarType::float32,
          .real = number,
          .integer = static_cast<std::int64_t>(number > -0x1p62 && number < 0x1p62 ? number : 0)};
}

/// Reads an argument; false if it is missing, or neither a tensor nor a number.
[[nodiscard]] constexpr bool read_operand(const EmbedNode& n, operators::Parameter p, Operand& out) noexcept {
  const StaticArgument* const a = n.find(p);
  if (a == nullptr) return false;
  if (a->is_value()) {
    out.value = a->value();
    return n.g.dtype(out.value) != ScalarType::undefined;
  }
  double number = 0;
  if (!EmbedNode::read_number(*a, number)) return false;
  out = number_operand(number);
  (void)EmbedNode::read_integer(*a, out.integer);
  if (a->kind != ArgumentKind::float_)
    out.number = a->kind == ArgumentKind::bool_ ? ScalarType::bool_ : ScalarType::int64;
  return true;
}
constexpr void add_type(const EmbedNode& n, const Operand& o, PromotedType& type) noexcept {
  ScalarType& of = o.value == no_id ? type.number : n.g.rank(o.value) == 0 ? type.zero : type.dimensioned;
  of = promote(of, o.value == no_id ? o.number : n.g.dtype(o.value));
}

/// True for element types with kernels.
[[nodiscard]] constexpr bool is_computed(ScalarType type) noexcept {
  return kernels::compute_of(type) != kernels::Compute::none;
}
inline constexpr const char* not_computed = "elements of this type are not computed with";
inline constexpr const char* too_many_dims = "it moves more than 6 dimensions";

[[nodiscard]] constexpr bool is_output_inner(const EmbedNode& n, ValueId weight) noexcept {
  const StaticInput* constant = n.g.constant(weight);
  return constant != nullptr && constant->layout == WeightLayout::output_inner;
}

/// The reason why a walk over the output or one of the values is impossible (no elements, ...); nullptr if it is
/// possible.
[[nodiscard]] constexpr const char* not_walkable(const EmbedNode& n, std::initializer_list<ValueId> values) noexcept {
  if (n.output() == no_id) return "it has no output";
  if (n.g.numel(n.output()) == 0) return "a tensor has no elements";
  if (n.g.numel(n.output()) > std::numeric_limits<std::int32_t>::max()) return "a tensor has 2^31 elements or more";
  for (const ValueId v : values)
    if (v != no_id && is_output_inner(n, v) && !n.g.is_probing()) return "an operand is laid out for a linear";
  return nullptr;
}
/// The reason why `x` and the output have different types, or cannot be walked over; nullptr if neither.
[[nodiscard]] constexpr const char* not_movable(const EmbedNode& n, ValueId x) noexcept {
  if (x == no_id || n.output() == no_id) return "an operand is missing";
  if (n.g.dtype(x) != n.g.dtype(n.output()) || n.g.dtype(x) == ScalarType::undefined)
    return "it changes the element type";
  return not_walkable(n, {x});
}
/// The reason why the operands and the first output are not tensors of one type with kernels; nullptr if they are.
[[nodiscard]] constexpr const char* not_of_one_type(const EmbedNode& n, ValueId x, ValueId y) noexcept {
  if (x == no_id || y == no_id || n.output() == no_id) return "an operand is missing";
  const ScalarType type = n.g.dtype(x);
  if (!is_computed(type) || n.g.dtype(y) != type || n.g.dtype(n.output()) != type)
    return "its tensors have different element types";
  for (const ValueId v : {x, y, n.output()}) {
    if (n.g.numel(v) == 0) return "a tensor has no elements";
    if (n.g.numel(v) > std::numeric_limits<std::int32_t>::max()) return "a tensor has 2^31 elements or more";
  }
  return nullptr;
}
/// The reason why the operand or the first output is not a float32 tensor; nullptr if both are.
[[nodiscard]] constexpr const char* not_float(const EmbedNode& n, ValueId x) noexcept {
  if (const char* why = not_of_one_type(n, x, x)) return why;
  return n.g.dtype(x) == ScalarType::float32 ? nullptr : "not all of it is float32";
}

/// An operand converted to a type: the value itself, or a temporary of an earlier conversion step.
struct ReadAs {
  ValueId value = no_id;
  std::uint32_t temporary = 0;
  bool converted = false;

  constexpr StepOperands& to(StepOperands& step) const { return converted ? step.scratch(temporary) : step.in(value); }
};
constexpr ReadAs read_as(const EmbedNode& n, StepWriter& steps, ValueId v, ScalarType type) {
  if (n.g.dtype(v) == type) return {v};
  const ReadAs made{v, steps.temporary(type, n.g.numel(v)), true};
  steps.step<sf::convert>({int32(n.g.numel(v))}).scratch(made.temporary).in(v);
  return made;
}

/// The row-major strides of a value.
[[nodiscard]] constexpr std::vector<std::int64_t> strides_of(const EmbedGraph& g, ValueId v) {
  std::vector<std::int64_t> strides(g.rank(v), 1);
  for (std::size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * g.size(v, static_cast<std::int64_t>(d));
  return strides;
}
/// The stride of a value in dimension `d` of the sizes to which it broadcasts.
[[nodiscard]] constexpr std::int64_t walked_stride(const EmbedGraph& g, ValueId v, std::uint32_t d,
                                                   std::uint32_t rank) noexcept {
  const std::uint32_t added = rank - g.rank(v);
  if (d < added || g.size(v, d - added) == 1) return 0;
  std::int64_t stride = 1;
  for (std::uint32_t i = d - added + 1; i < g.rank(v); ++i) stride *= g.size(v, i);
  return stride;
}
/// The walk over the output's sizes, to which the values broadcast.
template <std::size_t N>
[[nodiscard]] constexpr const char* walk_over(const EmbedNode& n, const std::array<ValueId, N>& values,
                                              sf::Walk<N>& walk) noexcept {
  const ValueId y = n.output();
  const std::uint32_t rank = n.g.rank(y);
  for (const ValueId v : values)
    if (n.g.rank(v) > rank) return "an operand has more dimensions than the result";
  for (std::uint32_t d = 0; d < rank; ++d) {
    std::array<std::int64_t, N> strides{};
    for (std::size_t i = 0; i < N; ++i) strides[i] = walked_stride(n.g, values[i], d, rank);
    if (!walk.push(n.g.size(y, d), strides)) return "it broadcasts more than 6 dimensions";
  }
  return nullptr;
}
/// Splits the sizes of `x` at a dimension into the products before it, of it and behind it.
constexpr void split_at(const EmbedNode& n, ValueId x, std::size_t dim, int32& outer, int32& count,
                        int32& inner) noexcept {
  for (std::size_t d = 0; d < n.g.rank(x); ++d) (d < dim ? outer : d == dim ? count : inner) *= int32(n.size(x, d));
}

}  // namespace davit::static_lowering
