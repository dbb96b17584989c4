// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/name.hpp"

namespace davit {

/// An operator of a guard: a leaf, or a Python operator with Python's meaning.
enum class GuardOp : std::uint32_t {
  integer,  ///< `value`
  real,     ///< a float whose bits are `value`
  boolean,  ///< `value` is 0 or 1
  input,    ///< the value of user input `a`, a number
  size,
  stride,          ///< of user input `a`, dimension `b`; likewise size
  storage_offset,  ///< of user input `a`
  negative,
  positive,
  invert,
  logical_not,
  absolute,
  to_int,
  to_float,
  to_bool,
  floor,
  ceil,
  trunc,
  round,     // operand a; likewise from negative on
  function,  ///< function number `value` of guard_functions, of a
  add,
  subtract,
  multiply,
  true_divide,
  floor_divide,
  modulo,
  power,  // operands a, b; likewise from add on
  bit_or,
  bit_xor,
  bit_and,
  shift_left,
  shift_right,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,  ///< a or b itself, as in Python; b is evaluated only if a does not decide
  max,
  min,
  round_digits,
  math_log,
  math_pow,
  atan2,
  hypot,
  where,                      ///< b if a else c
  argument,                   ///< b: a number; a: the previous argument, or no_guard_node
  non_overlapping_and_dense,  ///< arguments: sizes, then as many strides; a: the last argument
};
inline constexpr std::uint32_t no_guard_node = 0xffffffffu;
/// Maximum number of nodes of all guards of a program.
inline constexpr std::size_t max_guard_nodes = std::size_t{1} << 18;

/// A node of a guard. Operands are earlier rows of the table.
struct GuardNode {
  GuardOp op = GuardOp::integer;
  std::uint32_t a = no_guard_node;
  std::uint32_t b = no_guard_node;
  std::uint32_t c = no_guard_node;
  std::int64_t value = 0;
  friend constexpr bool operator==(const GuardNode&, const GuardNode&) = default;
};

/// Conditions on the user inputs of a call, recorded by torch 2.9 and later: `2 <= x.shape[0]`, `x.shape[0] >
/// y.shape[0]`. Source: `guards_code` of torch._export.serde.schema.ExportedProgram; PyTorch asserts each in
/// ExportedProgram.module().
struct Guards {
  std::vector<GuardNode> nodes{};
  std::vector<std::uint32_t> roots{};  ///< per guard: its node

  [[nodiscard]] constexpr bool empty() const noexcept { return roots.empty(); }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return roots.size(); }
  friend constexpr bool operator==(const Guards&, const Guards&) = default;
};

/// The properties of a user input that a guard may read.
struct GuardInput {
  bool is_tensor = false;
  bool is_number = false;  ///< an int, a float or a bool
  std::uint32_t rank = 0;
};

[[nodiscard]] constexpr bool is_guard_leaf(GuardOp op) noexcept {
  return op >= GuardOp::input && op <= GuardOp::storage_offset;
}

/// Returns the number of operands among a, b and c.
[[nodiscard]] constexpr std::uint32_t guard_operands(GuardOp op) noexcept {
  if (op < GuardOp::negative) return 0;
  if (op <= GuardOp::function || op == GuardOp::non_overlapping_and_dense) return 1;
  return op == GuardOp::where ? 3 : 2;
}

/// A one-argument function of Python's math module.
struct GuardFunction {
  std::string_view name;
  double (*call)(double);
};
inline constexpr std::size_t guard_function_count = 24;
/// Returns sqrt, exp, log2, log10, sin, ...
[[nodiscard]] std::span<const GuardFunction> guard_functions() noexcept;

/// True if the tables are consistent and their leaves exist in the user inputs. O(nodes). Call it first on tables of
/// unknown origin.
template <class = void>
[[nodiscard]] constexpr bool guards_fit(const Guards& guards, std::span<const GuardInput> inputs) {
  if (guards.nodes.size() > max_guard_nodes) return false;
  const auto is_argument = [&](std::uint32_t id) { return guards.nodes[id].op == GuardOp::argument; };
  std::vector<std::uint32_t> arguments(guards.nodes.size(), 0);  // number of arguments up to this one
  for (std::uint32_t i = 0; i < guards.nodes.size(); ++i) {
    const GuardNode& n = guards.nodes[i];
    if (n.op > GuardOp::non_overlapping_and_dense) return false;
    if (is_guard_leaf(n.op)) {
      if (n.a >= inputs.size()) return false;
      const GuardInput& input = inputs[n.a];
      if (n.op == GuardOp::input ? !input.is_number : !input.is_tensor) return false;
      if ((n.op == GuardOp::size || n.op == GuardOp::stride) && n.b >= input.rank) return false;
      continue;
    }
    if (n.op == GuardOp::boolean && n.value != 0 && n.value != 1) return false;
    if (n.op == GuardOp::function && (n.value < 0 || static_cast<std::size_t>(n.value) >= guard_function_count))
      return false;
    if (n.op == GuardOp::argument) {
      if (n.b >= i || is_argument(n.b) || (n.a != no_guard_node && (n.a >= i || !is_argument(n.a)))) return false;
      arguments[i] = 1 + (n.a == no_guard_node ? 0 : arguments[n.a]);
      continue;
    }
    if (n.op == GuardOp::non_overlapping_and_dense) {
      if (n.a >= i || !is_argument(n.a) || arguments[n.a] % 2 != 0 || arguments[n.a] > 2 * 64) return false;
      continue;
    }
    const std::uint32_t operands[] = {n.a, n.b, n.c};
    for (std::uint32_t k = 0; k < guard_operands(n.op); ++k)
      if (operands[k] >= i || is_argument(operands[k])) return false;
  }
  for (const std::uint32_t root : guards.roots)
    if (root >= guards.nodes.size() || is_argument(root)) return false;
  return guards.roots.size() <= guards.nodes.size();
}

/// Prints a guard in Python, with the names of the user inputs: "x.shape[0] % 2 == 0". Truncated after about `longest`
/// bytes with "...". `names` has one entry per user input. O(nodes).
[[nodiscard]] std::string print_guard(const Guards& guards, std::size_t guard, std::span<const Name> names,
                                      std::size_t longest = 400);

namespace detail {
/// "x.shape[0]".
[[nodiscard]] std::string guard_leaf_name(const GuardNode& leaf, std::span<const Name> names);
}  // namespace detail

}  // namespace davit
