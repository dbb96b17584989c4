// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "davit/backends/portable/static/embed_kernels.hpp"
#include "davit/program/operators/activation.hpp"
#include "davit/program/operators/binary.hpp"
#include "davit/program/operators/bounds.hpp"

/// Functions of one or two elements in float32, of portable's static face.
namespace davit::embed_float {

namespace sf = static_float;

using int32 = std::int32_t;  // a cast costs less compile time than a call

/// Why the operands (`y` may be no_id) or the first output are not float32 tensors; nullptr if they are.
[[nodiscard]] constexpr const char* not_float(const EmbedNode& n, ValueId x, ValueId y = no_id) noexcept {
  const ValueId out = n.output();
  if (x == no_id || out == no_id) return "an operand is missing";
  const ValueId all[]{x, y == no_id ? x : y, out};
  for (std::size_t i = 0; i < 3; ++i) {
    const StaticValue& value = n.g.values[all[i]];
    if (value.dtype != ScalarType::float32) return "not all of it is float32";
    if (value.numel > std::numeric_limits<std::int32_t>::max()) return "a tensor has 2^31 elements or more";
  }
  return nullptr;
}

template <class Op>
constexpr const char* write_unary(const EmbedNode& n, StepWriter& steps, const Op& op) {
  const ValueId x = n.value("self");
  const ValueId y = n.output();
  if (const char* why = not_float(n, x)) return why;
  steps.step<unary<Op>>({int32(n.g.numel(x)), op}).out(y).in(x).overwrites(x);
  return nullptr;
}
template <class Op>
constexpr const char* embed_unary(const EmbedNode& n, StepWriter& steps) {
  return write_unary(n, steps, Op{});
}

/// relu is a kernel of its own.
constexpr const char* embed_bounds(const EmbedNode& n, StepWriter& steps) {
  operators::BoundsView v;
  if (const operators::Refusal wrong = operators::read_bounds(n, v)) return wrong.what;
  return write_unary(n, steps, sf::Clamp{static_cast<float>(v.low), static_cast<float>(v.high)});
}
constexpr const char* embed_gelu(const EmbedNode& n, StepWriter& steps) {
  operators::ActivationView v;
  if (const operators::Refusal wrong = operators::read_activation(n, v)) return wrong.what;
  if (v.function == operators::ActivationFunction::gelu_tanh) return write_unary(n, steps, sf::GeluTanh{});
  return write_unary(n, steps, sf::Gelu{n.g.numel(v.input) > 1 ? 1 : 0});
}

template <class Op>
constexpr const char* write_binary(const EmbedNode& n, StepWriter& steps, const operators::BinaryView& view, const Op& op) {
  const ValueId a = view.left, b = view.right;
  const ValueId y = n.output();
  if (const char* why = a == no_id ? not_float(n, b) : not_float(n, a, b)) return why;
  if (a == no_id || b == no_id) {
    const ValueId x = a == no_id ? b : a;
    const sf::WithNumber<Op> with{op, static_cast<float>(a == no_id ? view.left_number : view.right_number), a == no_id ? 1 : 0};
    steps.step<unary<sf::WithNumber<Op>>>({int32(n.g.numel(x)), with}).out(y).in(x).overwrites(x);
    return nullptr;
  }
  if (n.g.numel(a) == n.g.numel(y) && n.g.numel(b) == n.g.numel(y)) {  // their sizes differ in ones at most
    steps.step<pairwise<Op>>({int32(n.g.numel(y)), op}).out(y).in(a).in(b).overwrites(a).overwrites(b);
    return nullptr;
  }
  const auto sizes_of = [&](ValueId v) {
    std::vector<std::int64_t> sizes;
    sizes.reserve(n.g.rank(v));
    for (std::uint32_t d = 0; d < n.g.rank(v); ++d) sizes.push_back(n.g.size(v, d));
    return sizes;
  };
  const sf::Broadcast walk = sf::broadcast_of(sizes_of(a), sizes_of(b));
  if (walk.rank < 0) return "it broadcasts more than 6 dimensions";
  auto step = steps.step<binary<Op>>({walk, op}).out(y).in(a).in(b);
  for (const ValueId v : {a, b})
    if (n.g.same_sizes(v, y)) step.overwrites(v);
  return nullptr;
}
constexpr const char* embed_binary(const EmbedNode& n, StepWriter& steps) {
  operators::BinaryView v;
  if (const operators::Refusal wrong = operators::read_binary(n, v)) return wrong.what;
  const auto alpha = static_cast<float>(v.alpha);
  switch (v.function) {
    case operators::BinaryFunction::add:
      return v.alpha == 1 ? write_binary(n, steps, v, sf::Add{}) : write_binary(n, steps, v, sf::AddScaled{alpha});
    case operators::BinaryFunction::subtract:
      return v.alpha == 1 ? write_binary(n, steps, v, sf::Sub{}) : write_binary(n, steps, v, sf::SubScaled{alpha});
    case operators::BinaryFunction::multiply: return write_binary(n, steps, v, sf::Mul{});
    case operators::BinaryFunction::divide: return write_binary(n, steps, v, sf::Div{});
    case operators::BinaryFunction::maximum: return write_binary(n, steps, v, sf::Maximum{});
    case operators::BinaryFunction::minimum: return write_binary(n, steps, v, sf::Minimum{});
  }
  return "an unknown function of two operands";
}

template <class... Ops>
using unary_kernels = kernel_list<unary<Ops>...>;
template <class... Ops>
using binary_kernels = kernel_list<pairwise<Ops>..., binary<Ops>..., unary<sf::WithNumber<Ops>>...>;

using elementwise_kernels = joined_kernels<
    unary_kernels<sf::Relu, sf::Neg, sf::Abs, sf::Exp, sf::Sqrt, sf::Rsqrt, sf::Tanh, sf::Sigmoid, sf::Silu, sf::Gelu,
                  sf::GeluTanh, sf::Clamp, sf::Hardsigmoid, sf::Hardswish>,
    binary_kernels<sf::Add, sf::AddScaled, sf::Sub, sf::SubScaled, sf::Mul, sf::Div, sf::Maximum, sf::Minimum>>;

inline constexpr std::array elementwise_rows{
    EmbedRow{"aten.abs.default", embed_unary<sf::Abs>},
    EmbedRow{"aten.add.Scalar", embed_binary},
    EmbedRow{"aten.add.Tensor", embed_binary},
    EmbedRow{"aten.clamp.default", embed_bounds},
    EmbedRow{"aten.div.Scalar", embed_binary},
    EmbedRow{"aten.div.Tensor", embed_binary},
    EmbedRow{"aten.exp.default", embed_unary<sf::Exp>},
    EmbedRow{"aten.gelu.default", embed_gelu},
    EmbedRow{"aten.hardsigmoid.default", embed_unary<sf::Hardsigmoid>},
    EmbedRow{"aten.hardswish.default", embed_unary<sf::Hardswish>},
    EmbedRow{"aten.hardtanh.default", embed_bounds},
    EmbedRow{"aten.maximum.default", embed_binary},
    EmbedRow{"aten.minimum.default", embed_binary},
    EmbedRow{"aten.mul.Scalar", embed_binary},
    EmbedRow{"aten.mul.Tensor", embed_binary},
    EmbedRow{"aten.neg.default", embed_unary<sf::Neg>},
    EmbedRow{"aten.relu.default", embed_unary<sf::Relu>},
    EmbedRow{"aten.rsqrt.default", embed_unary<sf::Rsqrt>},
    EmbedRow{"aten.sigmoid.default", embed_unary<sf::Sigmoid>},
    EmbedRow{"aten.silu.default", embed_unary<sf::Silu>},
    EmbedRow{"aten.sqrt.default", embed_unary<sf::Sqrt>},
    EmbedRow{"aten.sub.Scalar", embed_binary},
    EmbedRow{"aten.sub.Tensor", embed_binary},
    EmbedRow{"aten.tanh.default", embed_unary<sf::Tanh>},
};

}  // namespace davit::embed_float
