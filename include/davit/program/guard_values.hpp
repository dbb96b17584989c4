// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/name.hpp"
#include "davit/program/guard.hpp"

namespace davit {

/// A Python number, or the reason why there is none. Integers have 64 bits: a larger one is `too_large`.
struct PythonNumber {
  enum class Kind : std::uint8_t { integer, real, boolean, too_large, division_by_zero, no_value, wrong_type };
  Kind kind = Kind::no_value;
  std::int64_t integer = 0;  ///< value of an integer or a boolean
  double real = 0;

  [[nodiscard]] static constexpr PythonNumber of(std::int64_t value) noexcept { return {Kind::integer, value, 0}; }
  [[nodiscard]] static constexpr PythonNumber of(double value) noexcept { return {Kind::real, 0, value}; }
  [[nodiscard]] static constexpr PythonNumber of(bool value) noexcept { return {Kind::boolean, value ? 1 : 0, 0}; }
  [[nodiscard]] static constexpr PythonNumber none(Kind why) noexcept { return {why, 0, 0}; }

  [[nodiscard]] constexpr bool is_number() const noexcept { return kind <= Kind::boolean; }
  [[nodiscard]] constexpr bool is_true() const noexcept { return kind == Kind::real ? real != 0 : integer != 0; }
  friend constexpr bool operator==(const PythonNumber&, const PythonNumber&) = default;
};

/// Evaluates all nodes of guards as Python does: floor division and modulo follow the divisor's sign, `/` gives a
/// float, `and` and `or` return an operand and skip the other. `values` has one entry per node; the entries of leaves
/// are inputs. O(nodes).
void evaluate_guards(std::span<const GuardNode> nodes, std::span<PythonNumber> values);

/// Prints a number like Python's repr: "3", "0.5", "True".
[[nodiscard]] std::string to_string(const PythonNumber& number);

/// Returns the reason why there is no number: "it divides by zero".
[[nodiscard]] std::string_view why_none(PythonNumber::Kind kind) noexcept;

/// The message for a guard that does not hold: "x.shape[0] > y.shape[0] does not hold: x.shape[0] is 3, y.shape[0] is
/// 7".
struct GuardViolation {
  std::string what;
  std::string fix;
};
/// Describes a broken guard from the `values` of evaluate_guards. O(nodes).
[[nodiscard]] GuardViolation describe_violation(const Guards& guards, std::size_t guard, std::span<const Name> names,
                                                std::span<const PythonNumber> values);

/// Returns the first guard that is false or has no value; guards.size() if all hold.
[[nodiscard]] std::size_t first_violation(const Guards& guards, std::span<const PythonNumber> values) noexcept;

namespace detail {
/// Compares numbers exactly: 2**53 + 1 and 2.0**53 differ.
[[nodiscard]] std::partial_ordering compare(const PythonNumber& a, const PythonNumber& b) noexcept;
}  // namespace detail

}  // namespace davit
