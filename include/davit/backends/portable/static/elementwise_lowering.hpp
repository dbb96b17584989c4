// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "davit/backends/portable/static/operands.hpp"
#include "davit/core/overload_rows.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/special_functions.hpp"
#include "davit/program/operators/activation.hpp"
#include "davit/program/operators/bounds.hpp"

/// Static lowering of elementwise operators, conversions and fills.
namespace davit::static_lowering {

/// The type to which a function's operands are converted, and the type of its result.
enum class MapRule : std::uint8_t { same, real, truth, integral };

[[nodiscard]] constexpr const char* mapped_type(MapRule rule, ScalarType& type, ScalarType out) noexcept {
  if (rule == MapRule::real && is_integral(type)) type = ScalarType::float32;
  if (rule == MapRule::integral && !is_integral(type)) return "it takes integers and bools only";
  if (!is_computed(type)) return not_computed;
  return out == (rule == MapRule::truth ? ScalarType::bool_ : type) ? nullptr
                                                                    : "its result is of an unexpected element type";
}

/// The kernels of binary functions that have a kernel for operands of one size.
template <template <class> class... Fs>
struct PairFunctions {
  template <template <class> class F>
  static constexpr bool has = (std::is_same_v<F<float>, Fs<float>> || ...);
};
using pair_functions = PairFunctions<kernels::Add, kernels::AddScaled, kernels::Subtract, kernels::Multiply,
                                     kernels::Divide, kernels::Maximum, kernels::Minimum>;

template <template <class> class F, std::size_t Numbers = 0>
constexpr const char* write_map_one(const EmbedNode& n, StepWriter& steps, ValueId x, MapRule rule,
                                    const std::array<Operand, Numbers>& numbers = {}) {
  if (x == no_id) return "an operand is missing";
  if (const char* why = not_walkable(n, {x})) return why;
  ScalarType type = n.g.dtype(x);
  if (const char* why = mapped_type(rule, type, n.g.dtype(n.output()))) return why;
  typename sf::map_one<F, Numbers>::Params p{};
  p.count = int32(n.g.numel(x));
  if constexpr (Numbers != 0)
    for (std::size_t i = 0; i < Numbers; ++i) p.numbers[i] = numbers[i].param(type, true);
  const ReadAs read = read_as(n, steps, x, type);
  StepOperands step = steps.step<sf::map_one<F, Numbers>>(p);
  step.out(n.output());
  read.to(step);
  if (!read.converted && size_of(n.g.dtype(n.output())) == size_of(type)) step.overwrites(x);
  return nullptr;
}
template <template <class> class F, MapRule rule>
constexpr const char* lower_map_one(const EmbedNode& n, StepWriter& steps) {
  return write_map_one<F>(n, steps, n.value({"self", 0}), rule);
}
/// leaky_relu and elu.
template <template <class> class F, std::size_t Numbers>
constexpr const char* lower_activation(const EmbedNode& n, StepWriter& steps) {
  operators::ActivationView v;
  if (const operators::Refusal wrong = operators::read_activation(n, v)) return wrong.what;
  std::array<Operand, Numbers> numbers{};
  for (std::size_t i = 0; i < Numbers; ++i) numbers[i] = number_operand(v.numbers[i]);
  return write_map_one<F, Numbers>(n, steps, v.input, MapRule::real, numbers);
}
constexpr const char* lower_gelu(const EmbedNode& n, StepWriter& steps) {
  operators::ActivationView v;
  if (const operators::Refusal wrong = operators::read_activation(n, v)) return wrong.what;
  if (v.function == operators::ActivationFunction::gelu_tanh)
    return write_map_one<kernels::GeluTanh>(n, steps, v.input, MapRule::real);
  const ScalarType type = n.g.dtype(v.input);
  const bool overflows = (type == ScalarType::float32 || type == ScalarType::bfloat16) && n.g.numel(v.input) > 1;
  return write_map_one<kernels::Gelu, 1>(n, steps, v.input, MapRule::real, {number_operand(overflows ? 1 : 0)});
}
constexpr const char* lower_bitwise_not(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  const bool is_bool = x != no_id && n.g.dtype(x) == ScalarType::bool_;
  return write_map_one<kernels::BitNot, 1>(n, steps, x, MapRule::integral, {number_operand(is_bool ? 1 : -1)});
}
/// clamp, hardtanh and relu6 with bounds that do not change the type.
constexpr const char* lower_bounds(const EmbedNode& n, StepWriter& steps) {
  operators::ClampView v;
  if (const operators::Refusal wrong = operators::read_clamp(n, v)) return wrong.what;
  const auto bound = [](double number) {
    Operand o = number_operand(number);
    if (number >= 0x1p63) o.integer = INT64_MAX;
    if (number <= -0x1p63) o.integer = INT64_MIN;
    if (number > -0x1p63 && number < 0x1p63) o.integer = static_cast<std::int64_t>(number);
    return o;
  };
  return write_map_one<kernels::Hardtanh, 2>(n, steps, v.input, MapRule::same, {bound(v.low), bound(v.high)});
}
/// Rounding functions; integers stay unchanged.
template <template <class> class F>
constexpr const char* lower_rounding(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  if (x != no_id && n.output() != no_id && is_integral(n.g.dtype(x)) && n.g.dtype(x) == n.g.dtype(n.output())) {
    steps.alias(n.output(), x);
    return nullptr;
  }
  return lower_map_one<F, MapRule::same>(n, steps);
}

/// Products and quotients of 16 bits do not round a number on their right. Source:
/// binary_kernel_reduced_floating_vec_opmath_support of ATen.
template <template <class> class F>
inline constexpr bool takes_exact_number =
    std::is_same_v<F<float>, kernels::Multiply<float>> || std::is_same_v<F<float>, kernels::Divide<float>> ||
    std::is_same_v<F<float>, kernels::FloorDivide<float>> || std::is_same_v<F<float>, kernels::TruncDivide<float>>;
template <template <class> class F, std::size_t Numbers = 0>
constexpr const char* write_map_two(const EmbedNode& n, StepWriter& steps, const Operand& a, const Operand& b,
                                    MapRule rule, const std::array<Operand, Numbers>& numbers = {}) {
  if (a.value == no_id && b.value == no_id) return "no operand is a tensor";
  if (const char* why = not_walkable(n, {a.value, b.value})) return why;
  PromotedType promoted;
  add_type(n, a, promoted);
  add_type(n, b, promoted);
  ScalarType type = promoted.get();
  if (const char* why = mapped_type(rule, type, n.g.dtype(n.output()))) return why;
  const ValueId y = n.output();
  const bool as_wide = size_of(n.g.dtype(y)) == size_of(type);
  const auto fill = [&](auto& p) {
    if constexpr (Numbers != 0)
      for (std::size_t i = 0; i < Numbers; ++i) p.numbers[i] = numbers[i].param(type);
  };
  if (a.value == no_id || b.value == no_id) {
    const ValueId x = a.value == no_id ? b.value : a.value;
    typename sf::map_with_number<F, Numbers>::Params p{};
    p.count = int32(n.g.numel(x));
    p.first = a.value == no_id ? 1 : 0;
    p.number = a.value == no_id ? a.param(type) : b.param(type, takes_exact_number<F>);
    fill(p);
    const ReadAs read = read_as(n, steps, x, type);
    StepOperands step = steps.step<sf::map_with_number<F, Numbers>>(p);
    step.out(y);
    read.to(step);
    if (!read.converted && as_wide) step.overwrites(x);
    return nullptr;
  }
  const std::int64_t count = n.g.numel(y);
  const bool pairs =
      n.g.numel(a.value) == count && n.g.numel(b.value) == count;  // sizes differ in dimensions of size 1 at most
  const auto write = [&]<class Kernel>(std::type_identity<Kernel>, const typename Kernel::Params& p) {
    const ReadAs left = read_as(n, steps, a.value, type), right = read_as(n, steps, b.value, type);
    StepOperands step = steps.step<Kernel>(p);
    step.out(y);
    left.to(step);
    right.to(step);
    for (const ReadAs& read : {left, right})
      if (as_wide && !read.converted && n.g.numel(read.value) == count) step.overwrites(read.value);
    return nullptr;
  };
  if constexpr (pair_functions::has<F>) {
    if (pairs) {
      typename sf::map_pairs<F, Numbers>::Params p{};
      p.count = int32(count);
      fill(p);
      return write(std::type_identity<sf::map_pairs<F, Numbers>>{}, p);
    }
  }
  typename sf::map_two<F, Numbers>::Params p{};
  if (const char* why = walk_over<2>(n, {a.value, b.value}, p.walk)) return why;
  fill(p);
  return write(std::type_identity<sf::map_two<F, Numbers>>{}, p);
}
template <template <class> class F, MapRule rule>
constexpr const char* lower_map_two(const EmbedNode& n, StepWriter& steps) {
  Operand a, b;
  if (!read_operand(n, {"self", 0}, a) || !read_operand(n, {"other", 1}, b))
    return "an operand is neither a tensor nor a number";
  return write_map_two<F>(n, steps, a, b, rule);
}
/// Bit functions in the result's type.
template <template <class> class F>
constexpr const char* lower_shift(const EmbedNode& n, StepWriter& steps) {
  Operand a, b;
  if (!read_operand(n, {"self", 0}, a) || !read_operand(n, {"other", 1}, b))
    return "an operand is neither a tensor nor a number";
  if (n.output() == no_id || n.g.dtype(n.output()) == ScalarType::bool_) return "bools have no bits to shift";
  const auto bits = static_cast<std::int64_t>(size_of(n.g.dtype(n.output()))) * 8;
  return write_map_two<F, 1>(n, steps, a, b, MapRule::integral,
                             {Operand{.number = ScalarType::int64, .real = 0, .integer = bits}});
}
constexpr const char* lower_sum(const EmbedNode& n, StepWriter& steps) {
  Operand a, b, alpha;
  if (!read_operand(n, {"self", 0}, a) || !read_operand(n, {"other", 1}, b))
    return "an operand is neither a tensor nor a number";
  const bool scaled = n.find({"alpha", 2}) != nullptr;
  if (scaled && (!read_operand(n, {"alpha", 2}, alpha) || alpha.value != no_id)) return "alpha is no number";
  const bool minus = n.is("aten.sub.Tensor") || n.is("aten.sub.Scalar");
  if (!scaled || alpha.real == 1)
    return minus ? write_map_two<kernels::Subtract>(n, steps, a, b, MapRule::same)
                 : write_map_two<kernels::Add>(n, steps, a, b, MapRule::same);
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
        {alpha, Operand{.number = ScalarType::float32, .real = static_cast<double>(n.g.dtype(y))}});
  return write_map_two<kernels::AddScaled, 1>(n, steps, a, b, MapRule::same, {alpha});
}
constexpr const char* lower_quotient(const EmbedNode& n, StepWriter& steps) {
  const std::string_view mode = n.string("rounding_mode");
  if (mode == "floor") return lower_map_two<kernels::FloorDivide, MapRule::same>(n, steps);
  if (mode == "trunc") return lower_map_two<kernels::TruncDivide, MapRule::same>(n, steps);
  return lower_map_two<kernels::Divide, MapRule::real>(n, steps);
}
/// pow: the exponents 0.5 and -0.5 are roots, which differ at -0 and -inf.
constexpr const char* lower_power(const EmbedNode& n, StepWriter& steps) {
  Operand a, b;
  if (!read_operand(n, {"self", 0}, a) || !read_operand(n, {"exponent", 1}, b))
    return "an operand is neither a tensor nor a number";
  const bool is_number = b.value == no_id;
  const bool half = a.value != no_id && n.g.dtype(a.value) == ScalarType::float16;
  if (is_number && b.number != ScalarType::float32 && b.integer < 0 && a.value != no_id &&
      is_integral(n.g.dtype(a.value)))
    return "integers have no negative powers";
  if (is_number && !half && b.real == 0.5) return write_map_two<kernels::Root>(n, steps, a, b, MapRule::same);
  if (is_number && !half && b.real == -0.5) return write_map_two<kernels::InverseRoot>(n, steps, a, b, MapRule::same);
  if (is_number && b.real == 2 && a.value != no_id && is_floating(n.g.dtype(a.value)))
    return write_map_one<kernels::Square>(n, steps, a.value, MapRule::same);
  return write_map_two<kernels::Power>(n, steps, a, b, MapRule::same);
}

constexpr const char* lower_where(const EmbedNode& n, StepWriter& steps) {
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
  sf::choose::Params p;
  if (const char* why = walk_over<3>(n, {condition, a, b}, p.walk)) return why;
  const ReadAs left = read_as(n, steps, a, type), right = read_as(n, steps, b, type);
  StepOperands step = steps.step<sf::choose>(p);
  step.out(y).in(condition);
  left.to(step);
  right.to(step);
  for (const ReadAs& read : {left, right})
    if (!read.converted && n.g.same_sizes(read.value, y)) step.overwrites(read.value);
  return nullptr;
}

/// Conversion to another element type.
constexpr const char* lower_convert(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0}), y = n.output();
  if (x == no_id) return "an operand is missing";
  if (const char* why = not_walkable(n, {x})) return why;
  if (n.g.dtype(x) == n.g.dtype(y)) {
    steps.alias(y, x);
    return nullptr;
  }
  if (!is_computed(n.g.dtype(x)) || !is_computed(n.g.dtype(y))) return not_computed;
  steps.step<sf::convert>({int32(n.g.numel(x))}).out(y).in(x);
  return nullptr;
}

/// Writes a tensor filled with one number.
constexpr const char* write_fill(const EmbedNode& n, StepWriter& steps, const Operand& number) {
  const ValueId y = n.output();
  if (y == no_id || n.g.numel(y) == 0) return "a tensor has no elements";
  if (number.value != no_id || number.number == ScalarType::undefined) return "its number is not known";
  const ScalarType type = n.g.dtype(y);
  if (!is_computed(type)) return not_computed;
  steps.step<sf::fill>({int32(n.g.numel(y)), number.param(type)}).out(y);
  return nullptr;
}
constexpr const char* lower_full(const EmbedNode& n, StepWriter& steps) {
  Operand number;
  for (const char* name : {"fill_value", "value", "s"})
    if (n.argument(name) != nullptr && !read_operand(n, {name, 1}, number)) return "its number is not known";
  return write_fill(n, steps, number);
}
template <int number>
constexpr const char* lower_all_alike(const EmbedNode& n, StepWriter& steps) {
  return write_fill(n, steps, number_operand(number));
}
constexpr const char* lower_arange(const EmbedNode& n, StepWriter& steps) {
  Operand start, step = number_operand(1);
  if (!read_operand(n, {"start", 0}, start) || start.value != no_id) return "its start is not known";
  if (n.find({"step", 2}) != nullptr && (!read_operand(n, {"step", 2}, step) || step.value != no_id))
    return "its step is not known";
  const ValueId y = n.output();
  if (y == no_id || n.g.numel(y) == 0) return "a tensor has no elements";
  const ScalarType type = n.g.dtype(y);
  if (!is_computed(type)) return not_computed;
  const auto wide = [&](Operand o) {
    if (is_floating(type)) o.real = rounded_to(type, o.real);
    return o.param(is_floating(type) ? ScalarType::float64 : type);
  };
  steps.step<sf::sequence>({int32(n.g.numel(y)), wide(start), wide(step)}).out(y);
  return nullptr;
}

template <template <class> class... Fs>
using functions_of_one = kernel_list<sf::map_one<Fs, 0>...>;
template <template <class> class F, std::size_t Numbers = 0>
using function_of_two = kernel_list<sf::map_two<F, Numbers>, sf::map_with_number<F, Numbers>>;
template <template <class> class... Fs>
using functions_of_two = joined_kernels<function_of_two<Fs>...>;
template <template <class> class... Fs>
using functions_of_pairs = kernel_list<sf::map_pairs<Fs, 0>...>;

using elementwise_kernels = joined_kernels<
    kernel_list<sf::choose, sf::convert, sf::fill, sf::sequence, sf::map_one<kernels::LeakyRelu, 1>,
                sf::map_one<kernels::Elu, 3>, sf::map_one<kernels::Gelu, 1>, sf::map_one<kernels::BitNot, 1>,
                sf::map_one<kernels::Hardtanh, 2>, sf::map_pairs<kernels::AddScaled, 1>>,
    functions_of_pairs<kernels::Add, kernels::Subtract, kernels::Multiply, kernels::Divide, kernels::Maximum,
                       kernels::Minimum>,
    function_of_two<kernels::AddScaled, 1>, function_of_two<kernels::AddRoundedProduct, 2>,
    function_of_two<kernels::ShiftLeft, 1>, function_of_two<kernels::ShiftRight, 1>,
    functions_of_two<kernels::Add, kernels::Subtract, kernels::Multiply, kernels::Divide, kernels::FloorDivide,
                     kernels::TruncDivide, kernels::Fmod, kernels::Remainder, kernels::Power, kernels::Maximum,
                     kernels::Minimum, kernels::Atan2, kernels::Hypot, kernels::CopySign, kernels::Gcd, kernels::BitAnd,
                     kernels::BitOr, kernels::BitXor, kernels::Equal, kernels::NotEqual, kernels::Less,
                     kernels::LessEqual, kernels::Greater, kernels::GreaterEqual, kernels::LogicalAnd,
                     kernels::LogicalOr, kernels::LogicalXor, kernels::Root, kernels::InverseRoot>,
    functions_of_one<kernels::Absolute, kernels::Negate, kernels::Relu, kernels::Sign, kernels::Square, kernels::Ceil,
                     kernels::Floor, kernels::Round, kernels::Trunc, kernels::LogicalNot, kernels::IsNan,
                     kernels::IsInf, kernels::Acos, kernels::Acosh, kernels::Asin, kernels::Asinh, kernels::Atan,
                     kernels::Atanh, kernels::BesselI0, kernels::Cos, kernels::Cosh, kernels::Digamma, kernels::Erf,
                     kernels::Erfc, kernels::Exp, kernels::Expm1, kernels::GeluTanh, kernels::Hardsigmoid,
                     kernels::Hardswish, kernels::InverseErf, kernels::Log, kernels::Log10, kernels::Log1p,
                     kernels::Log2, kernels::LogGamma, kernels::Mish, kernels::NormalQuantile, kernels::Reciprocal,
                     kernels::Rsqrt, kernels::ScaledErfc, kernels::Sigmoid, kernels::Silu, kernels::Sin, kernels::Sinh,
                     kernels::Sqrt, kernels::Tan, kernels::Tanh>>;

inline constexpr auto elementwise_rows = joined_rows(
    overload_rows<"aten.add", "Scalar", "Tensor">(EmbedRow{{}, lower_sum}),
    overload_rows<"aten.sub", "Scalar", "Tensor">(EmbedRow{{}, lower_sum}),
    overload_rows<"aten.mul", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::Multiply, MapRule::same>}),
    overload_rows<"aten.div", "Scalar", "Scalar_mode", "Tensor", "Tensor_mode">(EmbedRow{{}, lower_quotient}),
    overload_rows<"aten.remainder", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::Remainder, MapRule::same>}),
    overload_rows<"aten.fmod", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::Fmod, MapRule::same>}),
    overload_rows<"aten.pow", "Scalar", "Tensor_Scalar", "Tensor_Tensor">(EmbedRow{{}, lower_power}),
    overload_rows<"aten.bitwise_and", "Scalar", "Tensor">(
        EmbedRow{{}, lower_map_two<kernels::BitAnd, MapRule::integral>}),
    overload_rows<"aten.bitwise_or", "Scalar", "Tensor">(
        EmbedRow{{}, lower_map_two<kernels::BitOr, MapRule::integral>}),
    overload_rows<"aten.bitwise_xor", "Scalar", "Tensor">(
        EmbedRow{{}, lower_map_two<kernels::BitXor, MapRule::integral>}),
    overload_rows<"aten.__lshift__", "Scalar", "Tensor">(EmbedRow{{}, lower_shift<kernels::ShiftLeft>}),
    overload_rows<"aten.bitwise_left_shift", "Scalar_Tensor", "Tensor", "Tensor_Scalar">(
        EmbedRow{{}, lower_shift<kernels::ShiftLeft>}),
    overload_rows<"aten.__rshift__", "Scalar", "Tensor">(EmbedRow{{}, lower_shift<kernels::ShiftRight>}),
    overload_rows<"aten.bitwise_right_shift", "Scalar_Tensor", "Tensor", "Tensor_Scalar">(
        EmbedRow{{}, lower_shift<kernels::ShiftRight>}),
    overload_rows<"aten.copysign", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::CopySign, MapRule::real>}),
    overload_rows<"aten.eq", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::Equal, MapRule::truth>}),
    overload_rows<"aten.ne", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::NotEqual, MapRule::truth>}),
    overload_rows<"aten.lt", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::Less, MapRule::truth>}),
    overload_rows<"aten.le", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::LessEqual, MapRule::truth>}),
    overload_rows<"aten.gt", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::Greater, MapRule::truth>}),
    overload_rows<"aten.ge", "Scalar", "Tensor">(EmbedRow{{}, lower_map_two<kernels::GreaterEqual, MapRule::truth>}),
    std::array{
        EmbedRow{"aten.abs.default", lower_map_one<kernels::Absolute, MapRule::same>},
        EmbedRow{"aten.acos.default", lower_map_one<kernels::Acos, MapRule::real>},
        EmbedRow{"aten.acosh.default", lower_map_one<kernels::Acosh, MapRule::real>},
        EmbedRow{"aten.asin.default", lower_map_one<kernels::Asin, MapRule::real>},
        EmbedRow{"aten.asinh.default", lower_map_one<kernels::Asinh, MapRule::real>},
        EmbedRow{"aten.atan.default", lower_map_one<kernels::Atan, MapRule::real>},
        EmbedRow{"aten.atanh.default", lower_map_one<kernels::Atanh, MapRule::real>},
        EmbedRow{"aten.bitwise_not.default", lower_bitwise_not},
        EmbedRow{"aten.ceil.default", lower_rounding<kernels::Ceil>},
        EmbedRow{"aten.clamp.default", lower_bounds},
        EmbedRow{"aten.cos.default", lower_map_one<kernels::Cos, MapRule::real>},
        EmbedRow{"aten.cosh.default", lower_map_one<kernels::Cosh, MapRule::real>},
        EmbedRow{"aten.digamma.default", lower_map_one<kernels::Digamma, MapRule::real>},
        EmbedRow{"aten.elu.default", lower_activation<kernels::Elu, 3>},
        EmbedRow{"aten.erf.default", lower_map_one<kernels::Erf, MapRule::real>},
        EmbedRow{"aten.erfc.default", lower_map_one<kernels::Erfc, MapRule::real>},
        EmbedRow{"aten.erfinv.default", lower_map_one<kernels::InverseErf, MapRule::real>},
        EmbedRow{"aten.exp.default", lower_map_one<kernels::Exp, MapRule::real>},
        EmbedRow{"aten.expm1.default", lower_map_one<kernels::Expm1, MapRule::real>},
        EmbedRow{"aten.floor.default", lower_rounding<kernels::Floor>},
        EmbedRow{"aten.gelu.default", lower_gelu},
        EmbedRow{"aten.hardsigmoid.default", lower_map_one<kernels::Hardsigmoid, MapRule::real>},
        EmbedRow{"aten.hardswish.default", lower_map_one<kernels::Hardswish, MapRule::real>},
        EmbedRow{"aten.hardtanh.default", lower_bounds},
        EmbedRow{"aten.i0.default", lower_map_one<kernels::BesselI0, MapRule::real>},
        EmbedRow{"aten.isinf.default", lower_map_one<kernels::IsInf, MapRule::truth>},
        EmbedRow{"aten.isnan.default", lower_map_one<kernels::IsNan, MapRule::truth>},
        EmbedRow{"aten.leaky_relu.default", lower_activation<kernels::LeakyRelu, 1>},
        EmbedRow{"aten.lgamma.default", lower_map_one<kernels::LogGamma, MapRule::real>},
        EmbedRow{"aten.log.default", lower_map_one<kernels::Log, MapRule::real>},
        EmbedRow{"aten.log10.default", lower_map_one<kernels::Log10, MapRule::real>},
        EmbedRow{"aten.log1p.default", lower_map_one<kernels::Log1p, MapRule::real>},
        EmbedRow{"aten.log2.default", lower_map_one<kernels::Log2, MapRule::real>},
        EmbedRow{"aten.logical_not.default", lower_map_one<kernels::LogicalNot, MapRule::truth>},
        EmbedRow{"aten.mish.default", lower_map_one<kernels::Mish, MapRule::real>},
        EmbedRow{"aten.neg.default", lower_map_one<kernels::Negate, MapRule::same>},
        EmbedRow{"aten.reciprocal.default", lower_map_one<kernels::Reciprocal, MapRule::real>},
        EmbedRow{"aten.relu.default", lower_map_one<kernels::Relu, MapRule::same>},
        EmbedRow{"aten.round.default", lower_rounding<kernels::Round>},
        EmbedRow{"aten.rsqrt.default", lower_map_one<kernels::Rsqrt, MapRule::real>},
        EmbedRow{"aten.sigmoid.default", lower_map_one<kernels::Sigmoid, MapRule::real>},
        EmbedRow{"aten.sign.default", lower_map_one<kernels::Sign, MapRule::same>},
        EmbedRow{"aten.silu.default", lower_map_one<kernels::Silu, MapRule::real>},
        EmbedRow{"aten.sin.default", lower_map_one<kernels::Sin, MapRule::real>},
        EmbedRow{"aten.sinh.default", lower_map_one<kernels::Sinh, MapRule::real>},
        EmbedRow{"aten.special_erfcx.default", lower_map_one<kernels::ScaledErfc, MapRule::real>},
        EmbedRow{"aten.special_ndtri.default", lower_map_one<kernels::NormalQuantile, MapRule::real>},
        EmbedRow{"aten.sqrt.default", lower_map_one<kernels::Sqrt, MapRule::real>},
        EmbedRow{"aten.tan.default", lower_map_one<kernels::Tan, MapRule::real>},
        EmbedRow{"aten.tanh.default", lower_map_one<kernels::Tanh, MapRule::real>},
        EmbedRow{"aten.trunc.default", lower_rounding<kernels::Trunc>},
        EmbedRow{"aten.maximum.default", lower_map_two<kernels::Maximum, MapRule::same>},
        EmbedRow{"aten.minimum.default", lower_map_two<kernels::Minimum, MapRule::same>},
        EmbedRow{"aten.atan2.default", lower_map_two<kernels::Atan2, MapRule::real>},
        EmbedRow{"aten.gcd.default", lower_map_two<kernels::Gcd, MapRule::integral>},
        EmbedRow{"aten.hypot.default", lower_map_two<kernels::Hypot, MapRule::real>},
        EmbedRow{"aten.logical_and.default", lower_map_two<kernels::LogicalAnd, MapRule::truth>},
        EmbedRow{"aten.logical_or.default", lower_map_two<kernels::LogicalOr, MapRule::truth>},
        EmbedRow{"aten.logical_xor.default", lower_map_two<kernels::LogicalXor, MapRule::truth>},
        EmbedRow{"aten.where.self", lower_where},
        EmbedRow{"aten._to_copy.default", lower_convert},
        EmbedRow{"aten.empty.memory_format", lower_all_alike<0>},
        EmbedRow{"aten.empty_permuted.default", lower_all_alike<0>},
        EmbedRow{"aten.empty_strided.default", lower_all_alike<0>},
        EmbedRow{"aten.full.default", lower_full},
        EmbedRow{"aten.full_like.default", lower_full},
        EmbedRow{"aten.scalar_tensor.default", lower_full},
        EmbedRow{"aten.fill.Scalar", lower_full},
        EmbedRow{"aten.zeros.default", lower_all_alike<0>},
        EmbedRow{"aten.zeros_like.default", lower_all_alike<0>},
        EmbedRow{"aten.new_zeros.default", lower_all_alike<0>},
        EmbedRow{"aten.ones.default", lower_all_alike<1>},
        EmbedRow{"aten.ones_like.default", lower_all_alike<1>},
        EmbedRow{"aten.new_ones.default", lower_all_alike<1>},
        EmbedRow{"aten.arange.start_step", lower_arange},
    });

}  // namespace davit::static_lowering
