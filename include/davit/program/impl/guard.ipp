// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cmath>

#include "davit/program/guard.hpp"
#include "davit/program/python_repr.hpp"

namespace davit {

namespace detail {

inline constexpr auto guard_function_rows = std::to_array<GuardFunction>({
    {"math.sqrt", [](double x) { return std::sqrt(x); }},   {"math.cbrt", [](double x) { return std::cbrt(x); }},
    {"math.exp", [](double x) { return std::exp(x); }},     {"math.exp2", [](double x) { return std::exp2(x); }},
    {"math.expm1", [](double x) { return std::expm1(x); }}, {"math.log", [](double x) { return std::log(x); }},
    {"math.log2", [](double x) { return std::log2(x); }},   {"math.log10", [](double x) { return std::log10(x); }},
    {"math.log1p", [](double x) { return std::log1p(x); }}, {"math.sin", [](double x) { return std::sin(x); }},
    {"math.cos", [](double x) { return std::cos(x); }},     {"math.tan", [](double x) { return std::tan(x); }},
    {"math.asin", [](double x) { return std::asin(x); }},   {"math.acos", [](double x) { return std::acos(x); }},
    {"math.atan", [](double x) { return std::atan(x); }},   {"math.sinh", [](double x) { return std::sinh(x); }},
    {"math.cosh", [](double x) { return std::cosh(x); }},   {"math.tanh", [](double x) { return std::tanh(x); }},
    {"math.asinh", [](double x) { return std::asinh(x); }}, {"math.acosh", [](double x) { return std::acosh(x); }},
    {"math.atanh", [](double x) { return std::atanh(x); }}, {"math.fabs", [](double x) { return std::fabs(x); }},
    {"math.erf", [](double x) { return std::erf(x); }},     {"math.erfc", [](double x) { return std::erfc(x); }},
});

static_assert(guard_function_rows.size() == guard_function_count);

/// Printed form of an operator: infix or a call; its precedence, and the minimum precedence of its operands.
struct GuardForm {
  std::string_view text;
  int level = 0;  ///< 0: a call
  int left = 0, right = 0;
};
[[nodiscard]] GuardForm guard_form(const GuardNode& node) noexcept {
  switch (node.op) {
    case GuardOp::logical_or: return {" or ", 2, 2, 3};
    case GuardOp::logical_and: return {" and ", 3, 3, 4};
    case GuardOp::logical_not: return {"not ", 4, 4, 4};
    case GuardOp::equal: return {" == ", 5, 6, 6};
    case GuardOp::not_equal: return {" != ", 5, 6, 6};
    case GuardOp::less: return {" < ", 5, 6, 6};
    case GuardOp::less_equal: return {" <= ", 5, 6, 6};
    case GuardOp::greater: return {" > ", 5, 6, 6};
    case GuardOp::greater_equal: return {" >= ", 5, 6, 6};
    case GuardOp::bit_or: return {" | ", 6, 6, 7};
    case GuardOp::bit_xor: return {" ^ ", 7, 7, 8};
    case GuardOp::bit_and: return {" & ", 8, 8, 9};
    case GuardOp::shift_left: return {" << ", 9, 9, 10};
    case GuardOp::shift_right: return {" >> ", 9, 9, 10};
    case GuardOp::add: return {" + ", 10, 10, 11};
    case GuardOp::subtract: return {" - ", 10, 10, 11};
    case GuardOp::multiply: return {" * ", 11, 11, 12};
    case GuardOp::true_divide: return {" / ", 11, 11, 12};
    case GuardOp::floor_divide: return {" // ", 11, 11, 12};
    case GuardOp::modulo: return {" % ", 11, 11, 12};
    case GuardOp::negative: return {"-", 12, 12, 12};
    case GuardOp::positive: return {"+", 12, 12, 12};
    case GuardOp::invert: return {"~", 12, 12, 12};
    case GuardOp::power: return {" ** ", 13, 14, 12};
    case GuardOp::absolute: return {"abs"};
    case GuardOp::to_int: return {"int"};
    case GuardOp::to_float: return {"float"};
    case GuardOp::to_bool: return {"bool"};
    case GuardOp::floor: return {"math.floor"};
    case GuardOp::ceil: return {"math.ceil"};
    case GuardOp::trunc: return {"math.trunc"};
    case GuardOp::round:
    case GuardOp::round_digits: return {"round"};
    case GuardOp::function: return {guard_function_rows[static_cast<std::size_t>(node.value)].name};
    case GuardOp::max: return {"max"};
    case GuardOp::min: return {"min"};
    case GuardOp::math_log: return {"math.log"};
    case GuardOp::math_pow: return {"math.pow"};
    case GuardOp::atan2: return {"math.atan2"};
    case GuardOp::hypot: return {"math.hypot"};
    case GuardOp::non_overlapping_and_dense: return {"IsNonOverlappingAndDenseIndicator"};
    default: return {};
  }
}

std::string guard_leaf_name(const GuardNode& leaf, std::span<const Name> names) {
  std::string text(leaf.a < names.size() ? names[leaf.a].view() : std::string_view("?"));
  if (leaf.op == GuardOp::size) text += ".shape[" + std::to_string(leaf.b) + "]";
  if (leaf.op == GuardOp::stride) text += ".stride(" + std::to_string(leaf.b) + ")";
  if (leaf.op == GuardOp::storage_offset) text += ".storage_offset()";
  return text;
}

/// Writes a guard without recursion: a sum may have thousands of terms.
class GuardPrinter {
 public:
  GuardPrinter(const Guards& guards, std::span<const Name> names) : guards_(guards), names_(names) {}

  [[nodiscard]] std::string print(std::uint32_t root, std::size_t longest) {
    node(root, 0);
    while (!items_.empty()) {
      const Item item = items_.back();
      items_.pop_back();
      if (item.node == no_guard_node)
        out_ += item.text;
      else
        write(guards_.nodes[item.node], item.level);
      if (out_.size() > longest) return out_.substr(0, longest) + "...";
    }
    return std::move(out_);
  }

 private:
  /// An item still to be written; the last one is written first.
  struct Item {
    std::uint32_t node;
    int level;  ///< minimum precedence without parentheses
    std::string_view text{};
  };
  void node(std::uint32_t id, int level) { items_.push_back({id, level}); }
  void text(std::string_view words) { items_.push_back({no_guard_node, 0, words}); }

  void write(const GuardNode& n, int level) {
    switch (n.op) {
      case GuardOp::integer: return number(std::to_string(n.value), n.value < 0, level);
      case GuardOp::real: return real(std::bit_cast<double>(n.value), level);
      case GuardOp::boolean: out_ += n.value != 0 ? "True" : "False"; return;
      case GuardOp::where: return between(n, level);
      case GuardOp::argument:
        node(n.b, 0);
        if (n.a == no_guard_node) return;
        text(", ");
        return node(n.a, 0);
      default: break;
    }
    if (is_guard_leaf(n.op)) {
      out_ += guard_leaf_name(n, names_);
      return;
    }
    const GuardForm form = guard_form(n);
    const std::uint32_t operands = guard_operands(n.op);
    const bool in_parentheses = form.level == 0 || form.level < level;
    if (in_parentheses) text(")");
    if (operands == 2) {
      node(n.b, form.right);
      text(form.level == 0 ? ", " : form.text);
    }
    node(n.a, form.left);
    if (form.level == 0 || operands == 1) out_ += form.level == 0 ? form.text : std::string_view();
    if (in_parentheses) out_ += '(';
    if (form.level != 0 && operands == 1) out_ += form.text;
  }
  /// "b if a else c".
  void between(const GuardNode& n, int level) {
    if (level > 1) {
      out_ += '(';
      text(")");
    }
    node(n.c, 1);
    text(" else ");
    node(n.a, 2);
    text(" if ");
    node(n.b, 2);
  }
  void number(const std::string& digits, bool is_negative, int level) {
    out_ += is_negative && level > 12 ? "(" + digits + ")" : digits;
  }
  void real(double value, int level) {
    std::string digits;
    if (std::isinf(value))
      digits = value < 0 ? "-math.inf" : "math.inf";
    else if (std::isnan(value))
      digits = "math.nan";
    else
      append_python_float(digits, value);
    number(digits, std::signbit(value), level);
  }

  const Guards& guards_;
  std::span<const Name> names_;
  std::vector<Item> items_;
  std::string out_;
};

}  // namespace detail

std::span<const GuardFunction> guard_functions() noexcept { return detail::guard_function_rows; }

std::string print_guard(const Guards& guards, std::size_t guard, std::span<const Name> names, std::size_t longest) {
  return detail::GuardPrinter(guards, names).print(guards.roots[guard], longest);
}

}  // namespace davit
