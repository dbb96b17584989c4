// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "davit/backends/portable/static/embed_kernels.hpp"

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

/// A number argument, or `otherwise` if it is absent or None; false if the compiler does not know it.
constexpr bool read_number(const EmbedNode& n, const char* name, float otherwise, float& out) {
  const StaticArgument* a = n.argument(name);
  out = otherwise;
  if (a == nullptr || a->kind == ArgumentKind::none) return true;
  if (a->is_value()) return false;
  out = static_cast<float>(n.number(name));
  return true;
}

constexpr const char* embed_clamp(const EmbedNode& n, StepWriter& steps, const char* low, const char* high,
                                  const sf::Clamp& otherwise) {
  sf::Clamp op;
  if (!read_number(n, low, otherwise.low, op.low) || !read_number(n, high, otherwise.high, op.high))
    return "an argument is no number known to the compiler";
  return write_unary(n, steps, op);
}
constexpr const char* embed_clamp_numbers(const EmbedNode& n, StepWriter& steps) {
  return embed_clamp(n, steps, "min", "max", {});
}
constexpr const char* embed_hardtanh(const EmbedNode& n, StepWriter& steps) {
  return embed_clamp(n, steps, "min_val", "max_val", {-1, 1});
}
constexpr const char* embed_gelu(const EmbedNode& n, StepWriter& steps) {
  if (n.string("approximate") == "tanh") return write_unary(n, steps, sf::GeluTanh{});
  const ValueId x = n.value("self");
  return write_unary(n, steps, sf::Gelu{x != no_id && n.g.numel(x) > 1 ? 1 : 0});
}

template <class Op>
constexpr const char* write_binary(const EmbedNode& n, StepWriter& steps, const Op& op) {
  const ValueId a = n.value("self");
  const ValueId b = n.value("other");
  const ValueId y = n.output();
  if (const char* why = a == no_id ? not_float(n, b) : not_float(n, a, b)) return why;
  if (a == no_id || b == no_id) {
    float number = 0;
    if ((a == no_id && b == no_id) || !read_number(n, a == no_id ? "self" : "other", 0, number))
      return "an argument is no number known to the compiler";
    const ValueId x = a == no_id ? b : a;
    const sf::WithNumber<Op> with{op, number, a == no_id ? 1 : 0};
    steps.step<unary<sf::WithNumber<Op>>>({int32(n.g.numel(x)), with}).out(y).in(x).overwrites(x);
    return nullptr;
  }
  if (n.g.same_sizes(a, b)) {
    steps.step<pairwise<Op>>({int32(n.g.numel(y)), op}).out(y).in(a).in(b).overwrites(a).overwrites(b);
    return nullptr;
  }
  const auto sizes_of = [&](ValueId v) {
    std::vector<std::int64_t> sizes;
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
template <class Op>
constexpr const char* embed_binary(const EmbedNode& n, StepWriter& steps) {
  return write_binary(n, steps, Op{});
}
template <class Plain, class Scaled>
constexpr const char* embed_scaled(const EmbedNode& n, StepWriter& steps) {
  float alpha = 1;
  if (!read_number(n, "alpha", 1, alpha)) return "an argument is no number known to the compiler";
  if (alpha == 1) return write_binary(n, steps, Plain{});
  return write_binary(n, steps, Scaled{alpha});
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
    EmbedRow{"aten.add.Scalar", embed_scaled<sf::Add, sf::AddScaled>},
    EmbedRow{"aten.add.Tensor", embed_scaled<sf::Add, sf::AddScaled>},
    EmbedRow{"aten.clamp.default", embed_clamp_numbers},
    EmbedRow{"aten.div.Scalar", embed_binary<sf::Div>},
    EmbedRow{"aten.div.Tensor", embed_binary<sf::Div>},
    EmbedRow{"aten.exp.default", embed_unary<sf::Exp>},
    EmbedRow{"aten.gelu.default", embed_gelu},
    EmbedRow{"aten.hardsigmoid.default", embed_unary<sf::Hardsigmoid>},
    EmbedRow{"aten.hardswish.default", embed_unary<sf::Hardswish>},
    EmbedRow{"aten.hardtanh.default", embed_hardtanh},
    EmbedRow{"aten.maximum.default", embed_binary<sf::Maximum>},
    EmbedRow{"aten.minimum.default", embed_binary<sf::Minimum>},
    EmbedRow{"aten.mul.Scalar", embed_binary<sf::Mul>},
    EmbedRow{"aten.mul.Tensor", embed_binary<sf::Mul>},
    EmbedRow{"aten.neg.default", embed_unary<sf::Neg>},
    EmbedRow{"aten.relu.default", embed_unary<sf::Relu>},
    EmbedRow{"aten.rsqrt.default", embed_unary<sf::Rsqrt>},
    EmbedRow{"aten.sigmoid.default", embed_unary<sf::Sigmoid>},
    EmbedRow{"aten.silu.default", embed_unary<sf::Silu>},
    EmbedRow{"aten.sqrt.default", embed_unary<sf::Sqrt>},
    EmbedRow{"aten.sub.Scalar", embed_scaled<sf::Sub, sf::SubScaled>},
    EmbedRow{"aten.sub.Tensor", embed_scaled<sf::Sub, sf::SubScaled>},
    EmbedRow{"aten.tanh.default", embed_unary<sf::Tanh>},
};

}  // namespace davit::embed_float
