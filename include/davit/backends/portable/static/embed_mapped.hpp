// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "davit/backends/portable/static/embed_operands.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/special_functions.hpp"

/// Elementwise operators on elements of any type, of portable's static face: what embed_elementwise.hpp has no float32
/// kernel for.
namespace davit::static_lowering {

template <template <class> class F, std::size_t Numbers>
struct map_one {
  using Params = sf::MapOne<Numbers>;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr ErrorCode run(const P& p, R* y, const T* x) noexcept {
    return sf::map_one<F>(p, x, y);
  }
};
template <template <class> class F, std::size_t Numbers>
struct map_with_number {
  using Params = sf::MapWithNumber<Numbers>;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr ErrorCode run(const P& p, R* y, const T* x) noexcept {
    return sf::map_with_number<F>(p, x, y);
  }
};
template <template <class> class F, std::size_t Numbers>
struct map_two {
  using Params = sf::MapTwo<Numbers>;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr ErrorCode run(const P& p, R* y, const T* a, const T* b) noexcept {
    return sf::map_two<F>(p, a, b, y);
  }
};
struct choose {
  using Params = sf::Choose;
  template <class P, class T, class C>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, const C* condition, const T* a,
                                                   const T* b) noexcept {
    sf::choose(p, condition, a, b, y);
  }
};

template <template <class> class F, std::size_t Numbers>
constexpr const char* write_map_one(const EmbedNode& n, StepWriter& steps, ValueId x, MapRule rule,
                                    const std::array<sf::NumberParam, Numbers>& numbers) {
  if (x == no_id) return "an operand is missing";
  if (const char* why = not_walkable(n, {x})) return why;
  ScalarType type = n.g.dtype(x);
  if (const char* why = mapped_type(rule, type, n.g.dtype(n.output()))) return why;
  typename map_one<F, Numbers>::Params p{};
  p.count = int32(n.g.numel(x));
  if constexpr (Numbers != 0) p.numbers = numbers;
  const ReadAs read = read_as(n, steps, x, type);
  StepOperands step = steps.step<map_one<F, Numbers>>(p);
  step.out(n.output());
  read.to(step);
  if (!read.converted && size_of(n.g.dtype(n.output())) == size_of(type)) step.overwrites(x);
  return nullptr;
}
template <template <class> class F, MapRule rule>
constexpr const char* embed_map_one(const EmbedNode& n, StepWriter& steps) {
  return write_map_one<F, 0>(n, steps, n.value({"self", 0}), rule, {});
}
/// leaky_relu and elu.
template <template <class> class F, std::size_t Numbers>
constexpr const char* embed_activation(const EmbedNode& n, StepWriter& steps) {
  operators::ActivationView v;
  if (const operators::Refusal wrong = operators::read_activation(n, v)) return wrong.what;
  std::array<sf::NumberParam, Numbers> numbers{};
  for (std::size_t i = 0; i < Numbers; ++i) numbers[i] = std::bit_cast<sf::NumberParam>(v.numbers[i]);
  return write_map_one<F, Numbers>(n, steps, v.input, MapRule::real, numbers);
}
constexpr const char* embed_mapped_gelu(const EmbedNode& n, StepWriter& steps) {
  operators::ActivationView v;
  if (const operators::Refusal wrong = operators::read_activation(n, v)) return wrong.what;
  if (v.function == operators::ActivationFunction::gelu_tanh)
    return write_map_one<kernels::GeluTanh, 0>(n, steps, v.input, MapRule::real, {});
  const std::int64_t overflows = n.g.dtype(v.input) == ScalarType::bfloat16 && n.g.numel(v.input) > 1 ? 1 : 0;
  return write_map_one<kernels::Gelu, 1>(n, steps, v.input, MapRule::real, {std::bit_cast<sf::NumberParam>(overflows)});
}
constexpr const char* embed_bitwise_not(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  const std::int64_t mask = x != no_id && n.g.dtype(x) == ScalarType::bool_ ? 1 : -1;
  return write_map_one<kernels::BitNot, 1>(n, steps, x, MapRule::integral, {std::bit_cast<sf::NumberParam>(mask)});
}
/// clamp, hardtanh and relu6 whose bounds leave the type as it is.
constexpr const char* embed_mapped_bounds(const EmbedNode& n, StepWriter& steps) {
  operators::BoundsView v;
  if (const operators::Refusal wrong = operators::read_bounds(n, v)) return wrong.what;
  if (v.input == no_id) return "an operand is missing";
  const auto bound = [&](double number) {
    if (is_floating(n.g.dtype(v.input))) return std::bit_cast<sf::NumberParam>(number);
    return std::bit_cast<sf::NumberParam>(number != number    ? 0
                                          : number >= 0x1p63  ? INT64_MAX
                                          : number <= -0x1p63 ? INT64_MIN
                                                              : static_cast<std::int64_t>(number));
  };
  return write_map_one<kernels::Hardtanh, 2>(n, steps, v.input, MapRule::same, {bound(v.low), bound(v.high)});
}
/// Integers stay as they are.
template <template <class> class F>
constexpr const char* embed_rounding(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  if (x != no_id && n.output() != no_id && is_integral(n.g.dtype(x)) && n.g.dtype(x) == n.g.dtype(n.output())) {
    steps.alias(n.output(), x);
    return nullptr;
  }
  return embed_map_one<F, MapRule::same>(n, steps);
}

/// Products and quotients of 16 bits take the number on their right as it is. Source:
/// binary_kernel_reduced_floating_vec_opmath_support of ATen.
template <template <class> class F>
inline constexpr bool takes_exact_number =
    std::is_same_v<F<float>, kernels::Multiply<float>> || std::is_same_v<F<float>, kernels::Divide<float>> ||
    std::is_same_v<F<float>, kernels::FloorDivide<float>> || std::is_same_v<F<float>, kernels::TruncDivide<float>>;
template <template <class> class F, std::size_t Numbers>
constexpr const char* write_map_two(const EmbedNode& n, StepWriter& steps, const MappedOperand& a,
                                    const MappedOperand& b, MapRule rule,
                                    const std::array<MappedOperand, Numbers>& numbers) {
  if (a.value == no_id && b.value == no_id) return "no operand is a tensor";
  if (const char* why = not_walkable(n, {a.value, b.value})) return why;
  PromotedType promoted;
  add_type(n, a, promoted);
  add_type(n, b, promoted);
  ScalarType type = promoted.get();
  if (const char* why = mapped_type(rule, type, n.g.dtype(n.output()))) return why;
  const ValueId y = n.output();
  const auto fill = [&](auto& p) {
    if constexpr (Numbers != 0)
      for (std::size_t i = 0; i < Numbers; ++i) p.numbers[i] = numbers[i].param(type);
  };
  if (a.value == no_id || b.value == no_id) {
    const ValueId x = a.value == no_id ? b.value : a.value;
    typename map_with_number<F, Numbers>::Params p{};
    p.count = int32(n.g.numel(x));
    p.first = a.value == no_id ? 1 : 0;
    p.number = a.value == no_id ? a.param(type) : b.param(type, takes_exact_number<F>);
    fill(p);
    const ReadAs read = read_as(n, steps, x, type);
    StepOperands step = steps.step<map_with_number<F, Numbers>>(p);
    step.out(y);
    read.to(step);
    if (!read.converted && size_of(n.g.dtype(y)) == size_of(type)) step.overwrites(x);
    return nullptr;
  }
  typename map_two<F, Numbers>::Params p{};
  if (const char* why = walk_over<2>(n, {a.value, b.value}, p.walk)) return why;
  fill(p);
  const ReadAs left = read_as(n, steps, a.value, type), right = read_as(n, steps, b.value, type);
  StepOperands step = steps.step<map_two<F, Numbers>>(p);
  step.out(y);
  left.to(step);
  right.to(step);
  if (size_of(n.g.dtype(y)) == size_of(type))
    for (const ReadAs& read : {left, right})
      if (!read.converted && n.g.same_sizes(read.value, y)) step.overwrites(read.value);
  return nullptr;
}
template <template <class> class F, MapRule rule>
constexpr const char* embed_map_two(const EmbedNode& n, StepWriter& steps) {
  MappedOperand a, b;
  if (!read_operand(n, {"self", 0}, a) || !read_operand(n, {"other", 1}, b))
    return "an operand is neither a tensor nor a number";
  return write_map_two<F, 0>(n, steps, a, b, rule, {});
}
/// Bits are those of the result's type.
template <template <class> class F>
constexpr const char* embed_shift(const EmbedNode& n, StepWriter& steps) {
  MappedOperand a, b;
  if (!read_operand(n, {"self", 0}, a) || !read_operand(n, {"other", 1}, b))
    return "an operand is neither a tensor nor a number";
  if (n.output() == no_id || n.g.dtype(n.output()) == ScalarType::bool_) return "bools have no bits to shift";
  const auto bits = static_cast<std::int64_t>(size_of(n.g.dtype(n.output()))) * 8;
  return write_map_two<F, 1>(n, steps, a, b, MapRule::integral,
                             {MappedOperand{.number = ScalarType::int64, .real = 0, .integer = bits}});
}
constexpr const char* embed_mapped_sum(const EmbedNode& n, StepWriter& steps) {
  MappedOperand a, b, alpha;
  if (!read_operand(n, {"self", 0}, a) || !read_operand(n, {"other", 1}, b))
    return "an operand is neither a tensor nor a number";
  const bool scaled = n.find({"alpha", 2}) != nullptr;
  if (scaled && (!read_operand(n, {"alpha", 2}, alpha) || alpha.value != no_id)) return "alpha is no number";
  const bool minus = n.is("aten.sub.Tensor") || n.is("aten.sub.Scalar");
  if (!scaled || alpha.real == 1)
    return minus ? write_map_two<kernels::Subtract, 0>(n, steps, a, b, MapRule::same, {})
                 : write_map_two<kernels::Add, 0>(n, steps, a, b, MapRule::same, {});
  if (minus) {
    alpha.real = -alpha.real;
    alpha.integer = kernels::wrap_sub<std::int64_t>(0, alpha.integer);
  }
  const ValueId y = n.output();
  const bool half = y != no_id && is_floating(n.g.dtype(y)) && size_of(n.g.dtype(y)) == 2;
  const bool by_rows =
      half && n.g.rank(y) > 0 && a.value != no_id && b.value != no_id && n.g.numel(a.value) != n.g.numel(b.value);
  if (half && (by_rows ? n.size(y, n.g.rank(y) - 1) : n.g.numel(y)) < kernels::rounded_once)
    return write_map_two<kernels::AddRoundedProduct, 2>(
        n, steps, a, b, MapRule::same,
        {alpha, MappedOperand{.number = ScalarType::float32, .real = static_cast<double>(n.g.dtype(y))}});
  return write_map_two<kernels::AddScaled, 1>(n, steps, a, b, MapRule::same, {alpha});
}
constexpr const char* embed_mapped_quotient(const EmbedNode& n, StepWriter& steps) {
  const std::string_view mode = n.string("rounding_mode");
  if (mode == "floor") return embed_map_two<kernels::FloorDivide, MapRule::same>(n, steps);
  if (mode == "trunc") return embed_map_two<kernels::TruncDivide, MapRule::same>(n, steps);
  return embed_map_two<kernels::Divide, MapRule::real>(n, steps);
}
/// The powers 0.5 and -0.5 are roots, which differ at -0 and -inf.
constexpr const char* embed_power(const EmbedNode& n, StepWriter& steps) {
  MappedOperand a, b;
  if (!read_operand(n, {"self", 0}, a) || !read_operand(n, {"exponent", 1}, b))
    return "an operand is neither a tensor nor a number";
  const bool is_number = b.value == no_id;
  const bool half = a.value != no_id && n.g.dtype(a.value) == ScalarType::float16;
  if (is_number && b.number != ScalarType::float32 && b.integer < 0 && a.value != no_id &&
      is_integral(n.g.dtype(a.value)))
    return "integers have no negative powers";
  if (is_number && !half && b.real == 0.5) return write_map_two<kernels::Root, 0>(n, steps, a, b, MapRule::same, {});
  if (is_number && !half && b.real == -0.5)
    return write_map_two<kernels::InverseRoot, 0>(n, steps, a, b, MapRule::same, {});
  if (is_number && b.real == 2 && a.value != no_id && is_floating(n.g.dtype(a.value)))
    return write_map_one<kernels::Square, 0>(n, steps, a.value, MapRule::same, {});
  return write_map_two<kernels::Power, 0>(n, steps, a, b, MapRule::same, {});
}

constexpr const char* embed_where(const EmbedNode& n, StepWriter& steps) {
  const ValueId condition = n.value({"condition", 0}), a = n.value({"self", 1}), b = n.value({"other", 2}),
                y = n.output();
  if (condition == no_id || a == no_id || b == no_id) return "an operand is no tensor";
  if (const char* why = not_walkable(n, {condition, a, b})) return why;
  if (n.g.dtype(condition) != ScalarType::bool_ && n.g.dtype(condition) != ScalarType::uint8)
    return "its condition is no bool";
  const ScalarType type = n.g.dtype(y);
  PromotedType promoted;
  add_type(n, {.value = a}, promoted);
  add_type(n, {.value = b}, promoted);
  if (promoted.get() != type || !is_computed(type)) return "its result is of an unexpected element type";
  sf::Choose p;
  if (const char* why = walk_over<3>(n, {condition, a, b}, p.walk)) return why;
  const ReadAs left = read_as(n, steps, a, type), right = read_as(n, steps, b, type);
  StepOperands step = steps.step<choose>(p);
  step.out(y).in(condition);
  left.to(step);
  right.to(step);
  for (const ReadAs& read : {left, right})
    if (!read.converted && n.g.same_sizes(read.value, y)) step.overwrites(read.value);
  return nullptr;
}

/// Another element type.
constexpr const char* embed_convert(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0}), y = n.output();
  if (x == no_id || y == no_id) return "an operand is missing";
  if (const char* why = not_walkable(n, {x})) return why;
  if (n.g.dtype(x) == n.g.dtype(y)) {
    steps.alias(y, x);
    return nullptr;
  }
  if (!is_computed(n.g.dtype(x)) || !is_computed(n.g.dtype(y))) return "elements of this type are not converted";
  steps.step<convert>({int32(n.g.numel(x))}).out(y).in(x);
  return nullptr;
}

template <template <class> class... Fs>
using mapped_ones = kernel_list<map_one<Fs, 0>...>;
template <template <class> class... Fs>
using mapped_twos = kernel_list<map_two<Fs, 0>..., map_with_number<Fs, 0>...>;

using mapped_kernels = joined_kernels<
    kernel_list<choose, convert, map_one<kernels::LeakyRelu, 1>, map_one<kernels::Elu, 3>, map_one<kernels::Gelu, 1>,
                map_one<kernels::BitNot, 1>, map_one<kernels::Hardtanh, 2>, map_two<kernels::AddScaled, 1>,
                map_with_number<kernels::AddScaled, 1>, map_two<kernels::AddRoundedProduct, 2>,
                map_with_number<kernels::AddRoundedProduct, 2>, map_two<kernels::ShiftLeft, 1>,
                map_with_number<kernels::ShiftLeft, 1>, map_two<kernels::ShiftRight, 1>,
                map_with_number<kernels::ShiftRight, 1>>,
    mapped_twos<kernels::Add, kernels::Subtract, kernels::Multiply, kernels::Divide, kernels::FloorDivide,
                kernels::TruncDivide, kernels::Fmod, kernels::Remainder, kernels::Power, kernels::Maximum,
                kernels::Minimum, kernels::Atan2, kernels::Hypot, kernels::CopySign, kernels::Gcd, kernels::BitAnd,
                kernels::BitOr, kernels::BitXor, kernels::Equal, kernels::NotEqual, kernels::Less, kernels::LessEqual,
                kernels::Greater, kernels::GreaterEqual, kernels::LogicalAnd, kernels::LogicalOr, kernels::LogicalXor>,
    kernel_list<map_with_number<kernels::Root, 0>, map_with_number<kernels::InverseRoot, 0>, map_two<kernels::Root, 0>,
                map_two<kernels::InverseRoot, 0>>,
    mapped_ones<kernels::Absolute, kernels::Negate, kernels::Relu, kernels::Sign, kernels::Square, kernels::Ceil,
                kernels::Floor, kernels::Round, kernels::Trunc, kernels::LogicalNot, kernels::IsNan, kernels::IsInf,
                kernels::Acos, kernels::Acosh, kernels::Asin, kernels::Asinh, kernels::Atan, kernels::Atanh,
                kernels::BesselI0, kernels::Cos, kernels::Cosh, kernels::Digamma, kernels::Erf, kernels::Erfc,
                kernels::Exp, kernels::Expm1, kernels::GeluTanh, kernels::Hardsigmoid, kernels::Hardswish,
                kernels::InverseErf, kernels::Log, kernels::Log10, kernels::Log1p, kernels::Log2, kernels::LogGamma,
                kernels::Mish, kernels::NormalQuantile, kernels::Reciprocal, kernels::Rsqrt, kernels::ScaledErfc,
                kernels::Sigmoid, kernels::Silu, kernels::Sin, kernels::Sinh, kernels::Sqrt, kernels::Tan,
                kernels::Tanh>>;

inline constexpr std::array mapped_rows{
    EmbedRow{"aten.abs.default", embed_map_one<kernels::Absolute, MapRule::same>},
    EmbedRow{"aten.acos.default", embed_map_one<kernels::Acos, MapRule::real>},
    EmbedRow{"aten.acosh.default", embed_map_one<kernels::Acosh, MapRule::real>},
    EmbedRow{"aten.asin.default", embed_map_one<kernels::Asin, MapRule::real>},
    EmbedRow{"aten.asinh.default", embed_map_one<kernels::Asinh, MapRule::real>},
    EmbedRow{"aten.atan.default", embed_map_one<kernels::Atan, MapRule::real>},
    EmbedRow{"aten.atanh.default", embed_map_one<kernels::Atanh, MapRule::real>},
    EmbedRow{"aten.bitwise_not.default", embed_bitwise_not},
    EmbedRow{"aten.ceil.default", embed_rounding<kernels::Ceil>},
    EmbedRow{"aten.clamp.default", embed_mapped_bounds},
    EmbedRow{"aten.cos.default", embed_map_one<kernels::Cos, MapRule::real>},
    EmbedRow{"aten.cosh.default", embed_map_one<kernels::Cosh, MapRule::real>},
    EmbedRow{"aten.digamma.default", embed_map_one<kernels::Digamma, MapRule::real>},
    EmbedRow{"aten.elu.default", embed_activation<kernels::Elu, 3>},
    EmbedRow{"aten.erf.default", embed_map_one<kernels::Erf, MapRule::real>},
    EmbedRow{"aten.erfc.default", embed_map_one<kernels::Erfc, MapRule::real>},
    EmbedRow{"aten.erfinv.default", embed_map_one<kernels::InverseErf, MapRule::real>},
    EmbedRow{"aten.exp.default", embed_map_one<kernels::Exp, MapRule::real>},
    EmbedRow{"aten.expm1.default", embed_map_one<kernels::Expm1, MapRule::real>},
    EmbedRow{"aten.floor.default", embed_rounding<kernels::Floor>},
    EmbedRow{"aten.gelu.default", embed_mapped_gelu},
    EmbedRow{"aten.hardsigmoid.default", embed_map_one<kernels::Hardsigmoid, MapRule::real>},
    EmbedRow{"aten.hardswish.default", embed_map_one<kernels::Hardswish, MapRule::real>},
    EmbedRow{"aten.hardtanh.default", embed_mapped_bounds},
    EmbedRow{"aten.i0.default", embed_map_one<kernels::BesselI0, MapRule::real>},
    EmbedRow{"aten.isinf.default", embed_map_one<kernels::IsInf, MapRule::truth>},
    EmbedRow{"aten.isnan.default", embed_map_one<kernels::IsNan, MapRule::truth>},
    EmbedRow{"aten.leaky_relu.default", embed_activation<kernels::LeakyRelu, 1>},
    EmbedRow{"aten.lgamma.default", embed_map_one<kernels::LogGamma, MapRule::real>},
    EmbedRow{"aten.log.default", embed_map_one<kernels::Log, MapRule::real>},
    EmbedRow{"aten.log10.default", embed_map_one<kernels::Log10, MapRule::real>},
    EmbedRow{"aten.log1p.default", embed_map_one<kernels::Log1p, MapRule::real>},
    EmbedRow{"aten.log2.default", embed_map_one<kernels::Log2, MapRule::real>},
    EmbedRow{"aten.logical_not.default", embed_map_one<kernels::LogicalNot, MapRule::truth>},
    EmbedRow{"aten.mish.default", embed_map_one<kernels::Mish, MapRule::real>},
    EmbedRow{"aten.neg.default", embed_map_one<kernels::Negate, MapRule::same>},
    EmbedRow{"aten.reciprocal.default", embed_map_one<kernels::Reciprocal, MapRule::real>},
    EmbedRow{"aten.relu.default", embed_map_one<kernels::Relu, MapRule::same>},
    EmbedRow{"aten.round.default", embed_rounding<kernels::Round>},
    EmbedRow{"aten.rsqrt.default", embed_map_one<kernels::Rsqrt, MapRule::real>},
    EmbedRow{"aten.sigmoid.default", embed_map_one<kernels::Sigmoid, MapRule::real>},
    EmbedRow{"aten.sign.default", embed_map_one<kernels::Sign, MapRule::same>},
    EmbedRow{"aten.silu.default", embed_map_one<kernels::Silu, MapRule::real>},
    EmbedRow{"aten.sin.default", embed_map_one<kernels::Sin, MapRule::real>},
    EmbedRow{"aten.sinh.default", embed_map_one<kernels::Sinh, MapRule::real>},
    EmbedRow{"aten.special_erfcx.default", embed_map_one<kernels::ScaledErfc, MapRule::real>},
    EmbedRow{"aten.special_ndtri.default", embed_map_one<kernels::NormalQuantile, MapRule::real>},
    EmbedRow{"aten.sqrt.default", embed_map_one<kernels::Sqrt, MapRule::real>},
    EmbedRow{"aten.tan.default", embed_map_one<kernels::Tan, MapRule::real>},
    EmbedRow{"aten.tanh.default", embed_map_one<kernels::Tanh, MapRule::real>},
    EmbedRow{"aten.trunc.default", embed_rounding<kernels::Trunc>},
    EmbedRow{"aten.add.Scalar", embed_mapped_sum},
    EmbedRow{"aten.add.Tensor", embed_mapped_sum},
    EmbedRow{"aten.sub.Scalar", embed_mapped_sum},
    EmbedRow{"aten.sub.Tensor", embed_mapped_sum},
    EmbedRow{"aten.mul.Scalar", embed_map_two<kernels::Multiply, MapRule::same>},
    EmbedRow{"aten.mul.Tensor", embed_map_two<kernels::Multiply, MapRule::same>},
    EmbedRow{"aten.div.Scalar", embed_mapped_quotient},
    EmbedRow{"aten.div.Scalar_mode", embed_mapped_quotient},
    EmbedRow{"aten.div.Tensor", embed_mapped_quotient},
    EmbedRow{"aten.div.Tensor_mode", embed_mapped_quotient},
    EmbedRow{"aten.remainder.Scalar", embed_map_two<kernels::Remainder, MapRule::same>},
    EmbedRow{"aten.remainder.Tensor", embed_map_two<kernels::Remainder, MapRule::same>},
    EmbedRow{"aten.fmod.Scalar", embed_map_two<kernels::Fmod, MapRule::same>},
    EmbedRow{"aten.fmod.Tensor", embed_map_two<kernels::Fmod, MapRule::same>},
    EmbedRow{"aten.pow.Scalar", embed_power},
    EmbedRow{"aten.pow.Tensor_Scalar", embed_power},
    EmbedRow{"aten.pow.Tensor_Tensor", embed_power},
    EmbedRow{"aten.maximum.default", embed_map_two<kernels::Maximum, MapRule::same>},
    EmbedRow{"aten.minimum.default", embed_map_two<kernels::Minimum, MapRule::same>},
    EmbedRow{"aten.atan2.default", embed_map_two<kernels::Atan2, MapRule::real>},
    EmbedRow{"aten.bitwise_and.Scalar", embed_map_two<kernels::BitAnd, MapRule::integral>},
    EmbedRow{"aten.bitwise_and.Tensor", embed_map_two<kernels::BitAnd, MapRule::integral>},
    EmbedRow{"aten.bitwise_or.Scalar", embed_map_two<kernels::BitOr, MapRule::integral>},
    EmbedRow{"aten.bitwise_or.Tensor", embed_map_two<kernels::BitOr, MapRule::integral>},
    EmbedRow{"aten.bitwise_xor.Scalar", embed_map_two<kernels::BitXor, MapRule::integral>},
    EmbedRow{"aten.bitwise_xor.Tensor", embed_map_two<kernels::BitXor, MapRule::integral>},
    EmbedRow{"aten.__lshift__.Scalar", embed_shift<kernels::ShiftLeft>},
    EmbedRow{"aten.__lshift__.Tensor", embed_shift<kernels::ShiftLeft>},
    EmbedRow{"aten.bitwise_left_shift.Scalar_Tensor", embed_shift<kernels::ShiftLeft>},
    EmbedRow{"aten.bitwise_left_shift.Tensor", embed_shift<kernels::ShiftLeft>},
    EmbedRow{"aten.bitwise_left_shift.Tensor_Scalar", embed_shift<kernels::ShiftLeft>},
    EmbedRow{"aten.__rshift__.Scalar", embed_shift<kernels::ShiftRight>},
    EmbedRow{"aten.__rshift__.Tensor", embed_shift<kernels::ShiftRight>},
    EmbedRow{"aten.bitwise_right_shift.Scalar_Tensor", embed_shift<kernels::ShiftRight>},
    EmbedRow{"aten.bitwise_right_shift.Tensor", embed_shift<kernels::ShiftRight>},
    EmbedRow{"aten.bitwise_right_shift.Tensor_Scalar", embed_shift<kernels::ShiftRight>},
    EmbedRow{"aten.copysign.Scalar", embed_map_two<kernels::CopySign, MapRule::real>},
    EmbedRow{"aten.copysign.Tensor", embed_map_two<kernels::CopySign, MapRule::real>},
    EmbedRow{"aten.gcd.default", embed_map_two<kernels::Gcd, MapRule::integral>},
    EmbedRow{"aten.hypot.default", embed_map_two<kernels::Hypot, MapRule::real>},
    EmbedRow{"aten.eq.Scalar", embed_map_two<kernels::Equal, MapRule::truth>},
    EmbedRow{"aten.eq.Tensor", embed_map_two<kernels::Equal, MapRule::truth>},
    EmbedRow{"aten.ne.Scalar", embed_map_two<kernels::NotEqual, MapRule::truth>},
    EmbedRow{"aten.ne.Tensor", embed_map_two<kernels::NotEqual, MapRule::truth>},
    EmbedRow{"aten.lt.Scalar", embed_map_two<kernels::Less, MapRule::truth>},
    EmbedRow{"aten.lt.Tensor", embed_map_two<kernels::Less, MapRule::truth>},
    EmbedRow{"aten.le.Scalar", embed_map_two<kernels::LessEqual, MapRule::truth>},
    EmbedRow{"aten.le.Tensor", embed_map_two<kernels::LessEqual, MapRule::truth>},
    EmbedRow{"aten.gt.Scalar", embed_map_two<kernels::Greater, MapRule::truth>},
    EmbedRow{"aten.gt.Tensor", embed_map_two<kernels::Greater, MapRule::truth>},
    EmbedRow{"aten.ge.Scalar", embed_map_two<kernels::GreaterEqual, MapRule::truth>},
    EmbedRow{"aten.ge.Tensor", embed_map_two<kernels::GreaterEqual, MapRule::truth>},
    EmbedRow{"aten.logical_and.default", embed_map_two<kernels::LogicalAnd, MapRule::truth>},
    EmbedRow{"aten.logical_or.default", embed_map_two<kernels::LogicalOr, MapRule::truth>},
    EmbedRow{"aten.logical_xor.default", embed_map_two<kernels::LogicalXor, MapRule::truth>},
    EmbedRow{"aten.where.self", embed_where},
    EmbedRow{"aten._to_copy.default", embed_convert},
};

}  // namespace davit::static_lowering
