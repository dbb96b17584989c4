// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "davit/backends/portable/static/embed_kernels.hpp"
#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/program/operators/activation.hpp"
#include "davit/program/operators/binary.hpp"
#include "davit/program/operators/bounds.hpp"

/// Functions of one or two elements in float32, of portable's static face.
namespace davit::static_lowering {

namespace sf = static_kernels;

using int32 = std::int32_t;  // a cast costs less compile time than a call

/// Why the operands (`y` may be no_id) or the first output are not float32 tensors; nullptr if they are.
[[nodiscard]] constexpr const char* not_float(const EmbedNode& n, ValueId x, ValueId y = no_id) noexcept {
  const ValueId out = n.output();
  if (x == no_id || out == no_id) return "an operand is missing";
  const ValueId all[]{x, y == no_id ? x : y, out};
  for (std::size_t i = 0; i < 3; ++i) {
    const StaticValue& value = n.g.values[all[i]];
    if (value.dtype != ScalarType::float32) return "not all of it is float32";
    if (value.numel == 0) return "a tensor has no elements";
    if (value.numel > std::numeric_limits<std::int32_t>::max()) return "a tensor has 2^31 elements or more";
  }
  return nullptr;
}

/// Strides of a value for a walk over sizes that it broadcasts to, from the dimension `d` of these.
[[nodiscard]] constexpr std::int64_t walked_stride(const EmbedGraph& g, ValueId v, std::uint32_t d,
                                                   std::uint32_t rank) noexcept {
  const std::uint32_t added = rank - g.rank(v);
  if (d < added || g.size(v, d - added) == 1) return 0;
  std::int64_t stride = 1;
  for (std::uint32_t i = d - added + 1; i < g.rank(v); ++i) stride *= g.size(v, i);
  return stride;
}
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

template <class Op>
constexpr const char* write_unary(const EmbedNode& n, StepWriter& steps, const Op& op) {
  const ValueId x = n.value("self");
  const ValueId y = n.output();
  if (const char* why = not_float(n, x)) return why;
  steps.step<unary<Op>>({int32(n.g.numel(x)), op}).out(y).in(x).overwrites(x);
  return nullptr;
}
template <template <class> class Op>
constexpr const char* embed_unary(const EmbedNode& n, StepWriter& steps) {
  return write_unary(n, steps, Op<float>{});
}

/// relu is a kernel of its own.
constexpr const char* embed_bounds(const EmbedNode& n, StepWriter& steps) {
  operators::BoundsView v;
  if (const operators::Refusal wrong = operators::read_bounds(n, v)) return wrong.what;
  return write_unary(n, steps, kernels::Hardtanh<float>{static_cast<float>(v.low), static_cast<float>(v.high)});
}
constexpr const char* embed_gelu(const EmbedNode& n, StepWriter& steps) {
  operators::ActivationView v;
  if (const operators::Refusal wrong = operators::read_activation(n, v)) return wrong.what;
  if (v.function == operators::ActivationFunction::gelu_tanh) return write_unary(n, steps, kernels::GeluTanh<float>{});
  return write_unary(n, steps, kernels::Gelu<float>{n.g.numel(v.input) > 1});
}

template <class Op>
constexpr const char* write_binary(const EmbedNode& n, StepWriter& steps, const operators::BinaryView& view,
                                   const Op& op) {
  const ValueId a = view.left, b = view.right;
  const ValueId y = n.output();
  if (const char* why = a == no_id ? not_float(n, b) : not_float(n, a, b)) return why;
  if (a == no_id || b == no_id) {
    const ValueId x = a == no_id ? b : a;
    const sf::WithNumber<Op> with{op, static_cast<float>(a == no_id ? view.left_number : view.right_number),
                                  a == no_id ? 1 : 0};
    steps.step<unary<sf::WithNumber<Op>>>({int32(n.g.numel(x)), with}).out(y).in(x).overwrites(x);
    return nullptr;
  }
  if (n.g.numel(a) == n.g.numel(y) && n.g.numel(b) == n.g.numel(y)) {  // their sizes differ in ones at most
    steps.step<pairwise<Op>>({int32(n.g.numel(y)), op}).out(y).in(a).in(b).overwrites(a).overwrites(b);
    return nullptr;
  }
  sf::Walk<2> walk;
  if (const char* why = walk_over<2>(n, {a, b}, walk)) return why;
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
      return v.alpha == 1 ? write_binary(n, steps, v, kernels::Add<float>{})
                          : write_binary(n, steps, v, kernels::AddScaled<float>{alpha});
    case operators::BinaryFunction::subtract:
      return v.alpha == 1 ? write_binary(n, steps, v, kernels::Subtract<float>{})
                          : write_binary(n, steps, v, kernels::AddScaled<float>{-alpha});
    case operators::BinaryFunction::multiply: return write_binary(n, steps, v, kernels::Multiply<float>{});
    case operators::BinaryFunction::divide: return write_binary(n, steps, v, kernels::Divide<float>{});
    case operators::BinaryFunction::maximum: return write_binary(n, steps, v, kernels::Maximum<float>{});
    case operators::BinaryFunction::minimum: return write_binary(n, steps, v, kernels::Minimum<float>{});
  }
  return "an unknown function of two operands";
}

template <template <class> class... Ops>
using unary_kernels = kernel_list<unary<Ops<float>>...>;
template <template <class> class... Ops>
using binary_kernels =
    kernel_list<pairwise<Ops<float>>..., binary<Ops<float>>..., unary<sf::WithNumber<Ops<float>>>...>;

using elementwise_kernels =
    joined_kernels<unary_kernels<kernels::Relu, kernels::Negate, kernels::Absolute, kernels::Exp, kernels::Sqrt,
                                 kernels::Rsqrt, kernels::Tanh, kernels::Sigmoid, kernels::Silu, kernels::Gelu,
                                 kernels::GeluTanh, kernels::Hardtanh, kernels::Hardsigmoid, kernels::Hardswish>,
                   binary_kernels<kernels::Add, kernels::AddScaled, kernels::Subtract, kernels::Multiply,
                                  kernels::Divide, kernels::Maximum, kernels::Minimum>>;

inline constexpr std::array elementwise_rows{
    EmbedRow{"aten.abs.default", embed_unary<kernels::Absolute>},
    EmbedRow{"aten.add.Scalar", embed_binary},
    EmbedRow{"aten.add.Tensor", embed_binary},
    EmbedRow{"aten.clamp.default", embed_bounds},
    EmbedRow{"aten.div.Scalar", embed_binary},
    EmbedRow{"aten.div.Tensor", embed_binary},
    EmbedRow{"aten.exp.default", embed_unary<kernels::Exp>},
    EmbedRow{"aten.gelu.default", embed_gelu},
    EmbedRow{"aten.hardsigmoid.default", embed_unary<kernels::Hardsigmoid>},
    EmbedRow{"aten.hardswish.default", embed_unary<kernels::Hardswish>},
    EmbedRow{"aten.hardtanh.default", embed_bounds},
    EmbedRow{"aten.maximum.default", embed_binary},
    EmbedRow{"aten.minimum.default", embed_binary},
    EmbedRow{"aten.mul.Scalar", embed_binary},
    EmbedRow{"aten.mul.Tensor", embed_binary},
    EmbedRow{"aten.neg.default", embed_unary<kernels::Negate>},
    EmbedRow{"aten.relu.default", embed_unary<kernels::Relu>},
    EmbedRow{"aten.rsqrt.default", embed_unary<kernels::Rsqrt>},
    EmbedRow{"aten.sigmoid.default", embed_unary<kernels::Sigmoid>},
    EmbedRow{"aten.silu.default", embed_unary<kernels::Silu>},
    EmbedRow{"aten.sqrt.default", embed_unary<kernels::Sqrt>},
    EmbedRow{"aten.sub.Scalar", embed_binary},
    EmbedRow{"aten.sub.Tensor", embed_binary},
    EmbedRow{"aten.tanh.default", embed_unary<kernels::Tanh>},
};

}  // namespace davit::static_lowering
