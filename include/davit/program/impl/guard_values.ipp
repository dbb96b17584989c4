// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "davit/core/floor_divide.hpp"
#include "davit/core/real_from_chars.hpp"
#include "davit/program/guard_values.hpp"
#include "davit/program/python_repr.hpp"

namespace davit {

namespace detail {

using GuardKind = PythonNumber::Kind;

[[nodiscard]] double as_real(const PythonNumber& x) noexcept {
  return x.kind == GuardKind::real ? x.real : static_cast<double>(x.integer);
}
[[nodiscard]] bool is_whole(const PythonNumber& x) noexcept {
  return x.kind == GuardKind::integer || x.kind == GuardKind::boolean;
}
[[nodiscard]] PythonNumber none(GuardKind why) noexcept { return PythonNumber::none(why); }

std::partial_ordering compare(const PythonNumber& a, const PythonNumber& b) noexcept {
  if (is_whole(a) && is_whole(b)) return a.integer <=> b.integer;
  if (!is_whole(a) && !is_whole(b)) return a.real <=> b.real;
  if (!is_whole(a)) return 0 <=> compare(b, a);
  if (std::isnan(b.real)) return std::partial_ordering::unordered;
  if (b.real >= 0x1p63) return std::partial_ordering::less;
  if (b.real < -0x1p63) return std::partial_ordering::greater;
  const auto below = static_cast<std::int64_t>(b.real);
  if (a.integer != below) return a.integer <=> below;
  return 0.0 <=> b.real - static_cast<double>(below);
}

/// Converts a float without a fraction to an int.
[[nodiscard]] PythonNumber whole(double x) noexcept {
  if (std::isnan(x)) return none(GuardKind::no_value);
  if (!(x >= -0x1p63 && x < 0x1p63)) return none(GuardKind::too_large);
  return PythonNumber::of(static_cast<std::int64_t>(x));
}
/// Rounds to the nearest whole number, ties to even.
[[nodiscard]] double round_to_even(double x) noexcept {
  const double nearest = std::round(x);
  return std::fabs(x - nearest) == 0.5 ? 2.0 * std::round(x / 2.0) : nearest;
}

/// Quotient and remainder of floor division. Source: float_divmod of CPython's Objects/floatobject.c.
struct FloatQuotient {
  double floor;
  double rest;
};
[[nodiscard]] FloatQuotient float_divmod(double a, double b) noexcept {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1.0;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (quotient == 0) return {std::copysign(0.0, a / b), rest};
  const double floor = std::floor(quotient);
  return {quotient - floor > 0.5 ? floor + 1.0 : floor, rest};
}

[[nodiscard]] PythonNumber whole_power(std::int64_t base, std::int64_t exponent) noexcept {
  std::int64_t result = 1;
  while (true) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return none(GuardKind::too_large);
    exponent >>= 1;
    if (exponent == 0) return PythonNumber::of(result);
    if (base != 0 && base != 1 && base != -1 && __builtin_mul_overflow(base, base, &base))
      return none(GuardKind::too_large);
    if (base == -1) base = 1;
  }
}
/// Returns a ** b. A complex result is an error, because guards have no complex numbers. Source: float_pow of CPython's
/// Objects/floatobject.c.
[[nodiscard]] PythonNumber real_power(double a, double b) noexcept {
  if (a == 0 && b < 0) return none(GuardKind::division_by_zero);
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) return none(GuardKind::wrong_type);
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) return none(GuardKind::too_large);
  return PythonNumber::of(result);
}

/// Converts the result of a C function to Python's rules: NaN and infinity from finite arguments are errors. Source:
/// math_1 and math_2 of CPython's Modules/mathmodule.c.
[[nodiscard]] PythonNumber checked(double result, double a, double b = 0) noexcept {
  if (std::isnan(result) && !std::isnan(a) && !std::isnan(b)) return none(GuardKind::no_value);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) return none(GuardKind::too_large);
  return PythonNumber::of(result);
}
[[nodiscard]] PythonNumber logarithm(const PythonNumber& x, const PythonNumber& base) noexcept {
  const double a = as_real(x), b = as_real(base);
  if (a <= 0 || b <= 0) return none(GuardKind::no_value);
  if (b == 1) return none(GuardKind::division_by_zero);
  return PythonNumber::of(std::log(a) / std::log(b));
}

/// Source: int.__round__ and float.__round__ of CPython.
[[nodiscard]] PythonNumber round_whole(std::int64_t x, std::int64_t digits) noexcept {
  if (digits >= 0) return PythonNumber::of(x);
  if (digits < -19) return PythonNumber::of(std::int64_t{0});
  std::uint64_t step = 1;
  for (std::int64_t i = 0; i < -digits; ++i) step *= 10;
  const std::uint64_t magnitude = x < 0 ? -static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  const std::uint64_t rest = magnitude % step, down = magnitude - rest;
  const bool goes_up = rest > step - rest || (rest == step - rest && down / step % 2 == 1);
  std::uint64_t result = 0;
  if (__builtin_add_overflow(down, goes_up ? step : 0, &result) || result > static_cast<std::uint64_t>(INT64_MAX))
    return none(GuardKind::too_large);
  return PythonNumber::of(x < 0 ? -static_cast<std::int64_t>(result) : static_cast<std::int64_t>(result));
}
[[nodiscard]] PythonNumber round_real(double x, std::int64_t digits) noexcept {
  if (!std::isfinite(x) || digits > 323) return PythonNumber::of(x);
  if (digits < -308) return PythonNumber::of(0.0 * x);
  std::array<char, 700> text{};
  double result = 0;
  const auto read = [&](const auto& printed) { (void)real_from_chars(text.data(), printed.ptr, result); };
  if (digits >= 0) {
    read(std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::fixed, static_cast<int>(digits)));
  } else {
    const double magnitude = std::fabs(x);
    const char* const end =
        std::to_chars(text.data(), text.data() + text.size(), magnitude, std::chars_format::scientific).ptr;
    const char* const e = std::find(static_cast<const char*>(text.data()), end, 'e');
    int exponent = 0;
    if (e != end) std::from_chars(e + (e[1] == '+' ? 2 : 1), end, exponent);
    const std::int64_t kept = exponent + digits;  // digits behind the first
    if (kept >= 0) {
      read(std::to_chars(text.data(), text.data() + text.size(), magnitude, std::chars_format::scientific,
                         static_cast<int>(kept)));
    } else if (kept == -1) {
      const double step = std::pow(10.0, static_cast<double>(-digits));
      result = magnitude > step / 2 ? step : 0;
    }
    result = std::copysign(result, x);
  }
  if (std::isinf(result)) return none(GuardKind::too_large);
  return PythonNumber::of(result);
}

/// Arithmetic on whole numbers.
[[nodiscard]] PythonNumber on_whole(GuardOp op, std::int64_t a, std::int64_t b) noexcept {
  std::int64_t r = 0;
  const auto unless = [&](bool overflow) { return overflow ? none(GuardKind::too_large) : PythonNumber::of(r); };
  switch (op) {
    case GuardOp::add: return unless(__builtin_add_overflow(a, b, &r));
    case GuardOp::subtract: return unless(__builtin_sub_overflow(a, b, &r));
    case GuardOp::multiply: return unless(__builtin_mul_overflow(a, b, &r));
    case GuardOp::true_divide:
      if (b == 0) return none(GuardKind::division_by_zero);
      return PythonNumber::of(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case GuardOp::floor_divide:
      if (b == 0) return none(GuardKind::division_by_zero);
      if (!has_quotient(a, b)) return none(GuardKind::too_large);
      return PythonNumber::of(floor_divide(a, b));
    case GuardOp::modulo:
      if (b == 0) return none(GuardKind::division_by_zero);
      return PythonNumber::of(floor_modulo(a, b));
    case GuardOp::power: return b < 0 ? real_power(static_cast<double>(a), static_cast<double>(b)) : whole_power(a, b);
    case GuardOp::bit_or: return PythonNumber::of(a | b);
    case GuardOp::bit_xor: return PythonNumber::of(a ^ b);
    case GuardOp::bit_and: return PythonNumber::of(a & b);
    case GuardOp::shift_left:
      if (b < 0) return none(GuardKind::no_value);
      if (a == 0) return PythonNumber::of(a);
      if (b > 62) return none(GuardKind::too_large);
      return unless(__builtin_mul_overflow(a, std::int64_t{1} << b, &r));
    case GuardOp::shift_right:
      if (b < 0) return none(GuardKind::no_value);
      return PythonNumber::of(a >> (b > 63 ? 63 : b));
    default: return none(GuardKind::wrong_type);
  }
}
/// Arithmetic with at least one float operand.
[[nodiscard]] PythonNumber on_real(GuardOp op, double a, double b) noexcept {
  if (b == 0 && (op == GuardOp::true_divide || op == GuardOp::floor_divide || op == GuardOp::modulo))
    return none(GuardKind::division_by_zero);
  switch (op) {
    case GuardOp::add: return PythonNumber::of(a + b);
    case GuardOp::subtract: return PythonNumber::of(a - b);
    case GuardOp::multiply: return PythonNumber::of(a * b);
    case GuardOp::true_divide: return PythonNumber::of(a / b);
    case GuardOp::floor_divide: return PythonNumber::of(float_divmod(a, b).floor);
    case GuardOp::modulo: return PythonNumber::of(float_divmod(a, b).rest);
    case GuardOp::power: return real_power(a, b);
    default: return none(GuardKind::wrong_type);
  }
}

[[nodiscard]] PythonNumber of_one(const GuardNode& node, const PythonNumber& x) noexcept {
  const bool is_int = is_whole(x);
  switch (node.op) {
    case GuardOp::negative:
      if (!is_int) return PythonNumber::of(-x.real);
      return x.integer == INT64_MIN ? none(GuardKind::too_large) : PythonNumber::of(-x.integer);
    case GuardOp::positive: return is_int ? PythonNumber::of(x.integer) : x;
    case GuardOp::invert: return is_int ? PythonNumber::of(~x.integer) : none(GuardKind::wrong_type);
    case GuardOp::logical_not: return PythonNumber::of(!x.is_true());
    case GuardOp::absolute:
      if (!is_int) return PythonNumber::of(std::fabs(x.real));
      return x.integer == INT64_MIN ? none(GuardKind::too_large)
                                    : PythonNumber::of(x.integer < 0 ? -x.integer : x.integer);
    case GuardOp::to_int:
    case GuardOp::trunc: return is_int ? PythonNumber::of(x.integer) : whole(std::trunc(x.real));
    case GuardOp::to_float: return PythonNumber::of(as_real(x));
    case GuardOp::to_bool: return PythonNumber::of(x.is_true());
    case GuardOp::floor: return is_int ? PythonNumber::of(x.integer) : whole(std::floor(x.real));
    case GuardOp::ceil: return is_int ? PythonNumber::of(x.integer) : whole(std::ceil(x.real));
    case GuardOp::round: return is_int ? PythonNumber::of(x.integer) : whole(round_to_even(x.real));
    case GuardOp::function:
      return checked(guard_functions()[static_cast<std::size_t>(node.value)].call(as_real(x)), as_real(x));
    default: return none(GuardKind::wrong_type);
  }
}

[[nodiscard]] PythonNumber of_two(GuardOp op, const PythonNumber& a, const PythonNumber& b) noexcept {
  const std::partial_ordering order = compare(a, b);
  switch (op) {
    case GuardOp::equal: return PythonNumber::of(order == 0);
    case GuardOp::not_equal: return PythonNumber::of(!(order == 0));
    case GuardOp::less: return PythonNumber::of(order < 0);
    case GuardOp::less_equal: return PythonNumber::of(order <= 0);
    case GuardOp::greater: return PythonNumber::of(order > 0);
    case GuardOp::greater_equal: return PythonNumber::of(order >= 0);
    case GuardOp::max: return order < 0 ? b : a;
    case GuardOp::min: return order > 0 ? b : a;
    case GuardOp::math_log: return logarithm(a, b);
    case GuardOp::math_pow: return checked(std::pow(as_real(a), as_real(b)), as_real(a), as_real(b));
    case GuardOp::atan2: return checked(std::atan2(as_real(a), as_real(b)), as_real(a), as_real(b));
    case GuardOp::hypot: return checked(std::hypot(as_real(a), as_real(b)), as_real(a), as_real(b));
    case GuardOp::round_digits:
      if (!is_whole(b)) return none(GuardKind::wrong_type);
      return is_whole(a) ? round_whole(a.integer, b.integer) : round_real(a.real, b.integer);
    default: break;
  }
  if (!is_whole(a) || !is_whole(b)) return on_real(op, as_real(a), as_real(b));
  const PythonNumber result = on_whole(op, a.integer, b.integer);
  const bool are_bools = a.kind == GuardKind::boolean && b.kind == GuardKind::boolean;
  return are_bools && op >= GuardOp::bit_or && op <= GuardOp::bit_and && result.is_number()
             ? PythonNumber::of(result.integer != 0)
             : result;
}

/// Source: eval_is_non_overlapping_and_dense of torch.fx.experimental.symbolic_shapes.
[[nodiscard]] PythonNumber non_overlapping_and_dense(std::span<const GuardNode> nodes,
                                                     std::span<const PythonNumber> values, std::uint32_t last) {
  std::vector<std::int64_t> numbers;
  for (std::uint32_t at = last; at != no_guard_node; at = nodes[at].a) {
    const PythonNumber& value = values[nodes[at].b];
    if (!value.is_number()) return value;
    if (!is_whole(value)) return none(GuardKind::wrong_type);
    numbers.push_back(value.integer);
  }
  std::ranges::reverse(numbers);
  const std::size_t rank = numbers.size() / 2;
  if (rank == 1) return PythonNumber::of(static_cast<std::int64_t>(numbers[1] == 1 || numbers[0] < 2));
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, size
  for (std::size_t d = 0; d < rank; ++d) dims.emplace_back(numbers[rank + d], numbers[d]);
  std::ranges::sort(dims);
  std::int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (size == 1) continue;
    if (stride != expected) return PythonNumber::of(std::int64_t{0});
    if (__builtin_mul_overflow(expected, size, &expected)) return none(GuardKind::too_large);
  }
  return PythonNumber::of(std::int64_t{1});
}

}  // namespace detail

void evaluate_guards(std::span<const GuardNode> nodes, std::span<PythonNumber> values) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GuardNode& n = nodes[i];
    if (is_guard_leaf(n.op)) continue;
    PythonNumber& out = values[i];
    switch (n.op) {
      case GuardOp::integer: out = PythonNumber::of(n.value); continue;
      case GuardOp::real: out = PythonNumber::of(std::bit_cast<double>(n.value)); continue;
      case GuardOp::boolean: out = PythonNumber::of(n.value != 0); continue;
      case GuardOp::argument: out = values[n.b]; continue;
      case GuardOp::non_overlapping_and_dense: out = detail::non_overlapping_and_dense(nodes, values, n.a); continue;
      default: break;
    }
    const PythonNumber& a = values[n.a];
    if (!a.is_number()) {
      out = a;
    } else if (n.op == GuardOp::logical_and || n.op == GuardOp::logical_or) {
      out = a.is_true() == (n.op == GuardOp::logical_or) ? a : values[n.b];
    } else if (n.op == GuardOp::where) {
      out = values[a.is_true() ? n.b : n.c];
    } else if (guard_operands(n.op) == 1) {
      out = detail::of_one(n, a);
    } else {
      const PythonNumber& b = values[n.b];
      out = b.is_number() ? detail::of_two(n.op, a, b) : b;
    }
  }
}

std::string to_string(const PythonNumber& number) {
  std::string text;
  if (number.kind == PythonNumber::Kind::integer) return std::to_string(number.integer);
  if (number.kind == PythonNumber::Kind::boolean) return number.integer != 0 ? "True" : "False";
  if (number.kind == PythonNumber::Kind::real) detail::append_python_float(text, number.real);
  return text;
}

std::string_view why_none(PythonNumber::Kind kind) noexcept {
  switch (kind) {
    case PythonNumber::Kind::too_large: return "a number in it does not fit 64 bits";
    case PythonNumber::Kind::division_by_zero: return "it divides by zero";
    case PythonNumber::Kind::wrong_type: return "an operator in it gets a number of a type that it does not take";
    default: return "a function in it has no value there";
  }
}

GuardViolation describe_violation(const Guards& guards, std::size_t guard, std::span<const Name> names,
                                  std::span<const PythonNumber> values) {
  constexpr std::size_t most = 8;
  const PythonNumber& result = values[guards.roots[guard]];
  std::string what = print_guard(guards, guard, names);
  what += result.is_number() ? " does not hold" : " cannot be worked out: " + std::string(why_none(result.kind));
  std::vector<std::uint8_t> is_asked(guards.nodes.size(), 0);
  is_asked[guards.roots[guard]] = 1;
  std::vector<std::string> leaves;
  std::size_t count = 0;
  for (std::size_t i = guards.roots[guard] + std::size_t{1}; i-- > 0;) {
    const GuardNode& n = guards.nodes[i];
    if (is_asked[i] == 0) continue;
    if (n.op == GuardOp::argument || n.op == GuardOp::non_overlapping_and_dense) {
      for (const std::uint32_t operand : {n.a, n.op == GuardOp::argument ? n.b : no_guard_node})
        if (operand != no_guard_node) is_asked[operand] = 1;
    } else {
      const std::uint32_t operands[] = {n.a, n.b, n.c};
      for (std::uint32_t k = 0; k < guard_operands(n.op); ++k) is_asked[operands[k]] = 1;
    }
  }
  for (std::size_t i = 0; i <= guards.roots[guard]; ++i)
    if (is_asked[i] != 0 && is_guard_leaf(guards.nodes[i].op) && ++count <= most)
      leaves.push_back(detail::guard_leaf_name(guards.nodes[i], names) + " is " +
                       (values[i].is_number() ? to_string(values[i]) : "not known"));
  for (std::size_t i = 0; i < leaves.size(); ++i)
    what += (i != 0 ? ", " : result.is_number() ? ": " : "; ") + leaves[i];
  if (count > most) what += ", and " + std::to_string(count - most) + " more";
  return {std::move(what), result.kind == PythonNumber::Kind::too_large
                               ? "davit works guards out in 64 bits, and refuses each call for which that is not enough"
                               : "pass arguments for which it holds: the model was exported for these only"};
}

std::size_t first_violation(const Guards& guards, std::span<const PythonNumber> values) noexcept {
  std::size_t guard = 0;
  while (guard < guards.size() && values[guards.roots[guard]].is_number() && values[guards.roots[guard]].is_true())
    ++guard;
  return guard;
}

}  // namespace davit
