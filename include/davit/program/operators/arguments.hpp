// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/core/error.hpp"
#include "davit/ops/parameter.hpp"
#include "davit/program/graph.hpp"

/// Views of operator calls by family, with aliases, defaults and short forms resolved. A view is a plain struct of ids
/// and numbers; `read_x(arguments, view)` fills it at run time and in constant evaluation, without allocating, or
/// returns the reason why it cannot.
namespace davit::operators {

/// Reason why a call cannot be read; false if it can.
struct [[nodiscard]] Refusal {
  const char* what = nullptr;
  ErrorCode code = ErrorCode::invalid_argument;
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return what != nullptr; }
};

/// Arguments of a call: of a node of a program (NodeArguments), of a static program (EmbedNode), or of a running
/// kernel.
/// - `is(target)`: true for a call of that operator.
/// - `find(parameter)`: the argument; nullptr if the call omits it or passes None.
/// - `value(parameter)`: the id of the tensor argument; no_id if there is none. `rank` and `size` take that id; `size`
///   returns -1 for an unknown size.
/// - `items(argument)`: the items of a list; empty for other arguments.
/// - `read_integer`, `read_number`: reads a literal number; false if the argument is not one. A float is not an
///   integer.
/// - `text(argument)`: the text of a string; empty for other arguments.
template <class A>
concept CallArguments = requires(const A& call, Parameter p, ValueId v, std::size_t d, std::int64_t& i, double& x) {
  { call.is("aten.op.overload") } -> std::same_as<bool>;
  { call.find(p) == nullptr } -> std::same_as<bool>;
  { call.value(p) } -> std::same_as<ValueId>;
  { call.items(*call.find(p)).size() } -> std::convertible_to<std::size_t>;
  { call.read_integer(*call.find(p), i) } -> std::same_as<bool>;
  { call.read_number(*call.find(p), x) } -> std::same_as<bool>;
  { call.text(*call.find(p)) } -> std::convertible_to<std::string_view>;
  { call.rank(v) } -> std::convertible_to<std::size_t>;
  { call.size(v, d) } -> std::same_as<std::int64_t>;
};

/// Returns the table's row for the called operator, or nullptr. O(rows).
template <class Row, std::size_t N, CallArguments Call>
[[nodiscard]] constexpr const Row* find_row(const std::array<Row, N>& table, const Call& call) noexcept {
  const Row* row = table.data();
  for (std::size_t i = N; i > 0; --i, ++row)
    if (call.is(row->target)) return row;
  return nullptr;
}
/// Returns the row of an operator, which must be in the table.
template <class Row, std::size_t N>
[[nodiscard]] consteval const Row& row_of(const std::array<Row, N>& table, std::string_view target) {
  std::size_t at = 0;
  while (table[at].target != target) ++at;  // an access past the end is no constant expression
  return table[at];
}

/// Reads an optional number; false if the argument is given but unknown.
template <CallArguments Call>
[[nodiscard]] constexpr bool read_number(const Call& call, Parameter p, double otherwise, double& out) noexcept {
  const auto* const a = call.find(p);
  out = otherwise;
  return a == nullptr || call.read_number(*a, out);
}
/// Reads an optional integer; false if the argument is given but unknown.
template <CallArguments Call>
[[nodiscard]] constexpr bool read_integer(const Call& call, Parameter p, std::int64_t otherwise,
                                          std::int64_t& out) noexcept {
  const auto* const a = call.find(p);
  out = otherwise;
  return a == nullptr || call.read_integer(*a, out);
}
/// Reads an optional bool; false if the argument is given but unknown.
template <CallArguments Call>
[[nodiscard]] constexpr bool read_flag(const Call& call, Parameter p, bool otherwise, bool& out) noexcept {
  double number = 0;
  const bool known = read_number(call, p, otherwise ? 1 : 0, number);
  out = number != 0;
  return known;
}

}  // namespace davit::operators
