// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>

#include "davit/backends/portable/static/embed_elementwise.hpp"
#include "davit/backends/portable/static/mapped.hpp"
#include "davit/core/promote.hpp"

/// What operators on elements of any type say of their operands, of portable's static face.
namespace davit::static_lowering {

struct convert {
  using Params = sf::Convert;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, R* y, const T* x) noexcept {
    sf::convert(p, x, y);
  }
};
/// A tensor or a number that an operator takes.
struct MappedOperand {
  ValueId value = no_id;                      ///< no_id: the number
  ScalarType number = ScalarType::undefined;  ///< float32, int64 or bool: its category
  double real = 0;
  std::int64_t integer = 0;

  /// As elements of that type are computed in; `exact`: not rounded to a float of 16 bits.
  [[nodiscard]] constexpr sf::NumberParam param(ScalarType type, bool exact = false) const noexcept {
    if (is_floating(type)) return std::bit_cast<sf::NumberParam>(exact ? real : rounded_to(type, real));
    return std::bit_cast<sf::NumberParam>(type == ScalarType::bool_ ? std::int64_t{real != 0} : integer);
  }
};

/// Reads an argument; false if it is neither a tensor nor a number, or missing.
[[nodiscard]] constexpr bool read_operand(const EmbedNode& n, operators::Parameter p, MappedOperand& out) noexcept {
  const StaticArgument* const a = n.find(p);
  if (a == nullptr) return false;
  if (a->is_value()) {
    out.value = a->value();
    return n.g.dtype(out.value) != ScalarType::undefined;
  }
  if (!EmbedNode::read_number(*a, out.real)) return false;
  if (!EmbedNode::read_integer(*a, out.integer))
    out.integer = static_cast<std::int64_t>(out.real > -0x1p62 && out.real < 0x1p62 ? out.real : 0);
  out.number = a->kind == ArgumentKind::float_  ? ScalarType::float32
               : a->kind == ArgumentKind::bool_ ? ScalarType::bool_
                                                : ScalarType::int64;
  return true;
}
constexpr void add_type(const EmbedNode& n, const MappedOperand& o, PromotedType& type) noexcept {
  ScalarType& of = o.value == no_id ? type.number : n.g.rank(o.value) == 0 ? type.zero : type.dimensioned;
  of = promote(of, o.value == no_id ? o.number : n.g.dtype(o.value));
}

/// True if kernels compute on elements of that type.
[[nodiscard]] constexpr bool is_computed(ScalarType type) noexcept {
  return kernels::compute_of(type) != kernels::Compute::none;
}

/// What a function's operands are computed as, and what comes out.
enum class MapRule : std::uint8_t { same, real, truth, integral };

[[nodiscard]] constexpr const char* mapped_type(MapRule rule, ScalarType& type, ScalarType out) noexcept {
  if (rule == MapRule::real && is_integral(type)) type = ScalarType::float32;
  if (rule == MapRule::integral && !is_integral(type)) return "it takes integers and bools only";
  if (!is_computed(type)) return "elements of this type are not computed with";
  return out == (rule == MapRule::truth ? ScalarType::bool_ : type) ? nullptr
                                                                    : "its result is of an unexpected element type";
}
[[nodiscard]] constexpr const char* not_walkable(const EmbedNode& n, std::initializer_list<ValueId> values) noexcept {
  if (n.output() == no_id) return "it has no output";
  if (n.g.numel(n.output()) == 0) return "a tensor has no elements";
  for (const ValueId v : values)
    if (v != no_id && n.g.constant(v) != nullptr && n.g.constant(v)->layout == WeightLayout::output_inner &&
        !n.g.is_probing())
      return "an operand is laid out for a linear";
  return nullptr;
}

/// An operand as elements of a type: the value itself, or a temporary that a step before converts it into.
struct ReadAs {
  ValueId value = no_id;
  std::uint32_t temporary = 0;
  bool converted = false;

  constexpr StepOperands& to(StepOperands& step) const { return converted ? step.scratch(temporary) : step.in(value); }
};
constexpr ReadAs read_as(const EmbedNode& n, StepWriter& steps, ValueId v, ScalarType type) {
  if (n.g.dtype(v) == type) return {v};
  const ReadAs made{v, steps.temporary(type, n.g.numel(v)), true};
  steps.step<convert>({int32(n.g.numel(v))}).scratch(made.temporary).in(v);
  return made;
}

}  // namespace davit::static_lowering
