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

/// What ATen says of a node: views of calls of operators by family, with aliases, defaults and short forms resolved. A
/// view is a plain struct of ids and numbers; `read_x(arguments, view)` fills it at run time and in constant
/// evaluation, without allocating, or answers why it cannot.
namespace davit::operators {

/// Why a call cannot be read; false if it can.
struct [[nodiscard]] Refusal {
  const char* what = nullptr;
  ErrorCode code = ErrorCode::invalid_argument;
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return what != nullptr; }
};

/// A call's arguments: of a node of a program (NodeArguments), of a static program (EmbedNode), or of a kernel while it
/// runs.
///  - `is(target)`: true if it is a call of that operator.
///  - `find(parameter)`: the argument, or nullptr if the call leaves it at its default or passes None.
///  - `value(parameter)`: the id of the tensor passed there; no_id if there is none. `rank` and `size` are asked by
///  that id, and
///    answer -1 for a size that is not known.
///  - `items(argument)`: what a list holds; nothing for other arguments.
///  - `read_integer`, `read_number`: a literal number; false for what is none. A float is no integer.
///  - `text(argument)`: of a string; empty for other arguments.
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

/// The row of a table that describes the operator which is called, or nullptr. O(rows).
template <class Row, std::size_t N, CallArguments Call>
[[nodiscard]] constexpr const Row* find_row(const std::array<Row, N>& table, const Call& call) noexcept {
  const Row* row = table.data();
  for (std::size_t i = N; i > 0; --i, ++row)
    if (call.is(row->target)) return row;
  return nullptr;
}
/// The row of an operator that is known to be in the table.
template <class Row, std::size_t N>
[[nodiscard]] consteval const Row& row_of(const std::array<Row, N>& table, std::string_view target) {
  std::size_t at = 0;
  while (table[at].target != target) ++at;  // past the end is no constant expression
  return table[at];
}

/// A number that may be left out; false if it is given and not known.
template <CallArguments Call>
[[nodiscard]] constexpr bool read_number(const Call& call, Parameter p, double otherwise, double& out) noexcept {
  const auto* const a = call.find(p);
  out = otherwise;
  return a == nullptr || call.read_number(*a, out);
}
/// An integer that may be left out; false if it is given and not known.
template <CallArguments Call>
[[nodiscard]] constexpr bool read_integer(const Call& call, Parameter p, std::int64_t otherwise,
                                          std::int64_t& out) noexcept {
  const auto* const a = call.find(p);
  out = otherwise;
  return a == nullptr || call.read_integer(*a, out);
}
/// A bool that may be left out; false if it is given and not known.
template <CallArguments Call>
[[nodiscard]] constexpr bool read_flag(const Call& call, Parameter p, bool otherwise, bool& out) noexcept {
  double number = 0;
  const bool known = read_number(call, p, otherwise ? 1 : 0, number);
  out = number != 0;
  return known;
}

}  // namespace davit::operators
