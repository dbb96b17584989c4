// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace davit {

/// One parameter of an operator schema.
struct SchemaParameter {
  std::string_view type{};  ///< "Tensor", "int[2]", "Scalar?", without alias annotations
  std::string_view name{};
  std::string_view default_value{};  ///< as written: "1", "None", "[]", "True"
  bool has_default = false;
  bool keyword_only = false;
  bool is_written = false;  ///< "Tensor(a!)": the operator writes to the argument

  [[nodiscard]] constexpr bool is_optional() const noexcept { return type.ends_with('?'); }
  /// The type without a trailing '?'.
  [[nodiscard]] constexpr std::string_view base() const noexcept {
    return is_optional() ? type.substr(0, type.size() - 1) : type;
  }
  [[nodiscard]] constexpr bool is_list() const noexcept { return base().ends_with(']'); }
  /// The type of a list's elements ("SymInt[2]" -> "SymInt", "Tensor?[]" -> "Tensor?"), or base() itself.
  [[nodiscard]] constexpr std::string_view element() const noexcept { return base().substr(0, base().find('[')); }
};

/// Parameters and number of returns of an operator, parsed from its schema; views into the schema's text.
struct OperatorSchema {
  std::string_view name;
  std::vector<SchemaParameter> parameters;
  std::size_t returns = 0;

  /// Returns the index of the parameter of that name, or parameters.size(). O(parameters).
  [[nodiscard]] constexpr std::size_t index_of(std::string_view parameter) const noexcept {
    std::size_t i = 0;
    while (i < parameters.size() && parameters[i].name != parameter) ++i;
    return i;
  }
};

namespace detail {

/// Removes the first parameter from a schema's parameter list, separated by ", ", and returns its text.
[[nodiscard]] constexpr std::string_view take_parameter(std::string_view& list) noexcept {
  std::size_t end = 0;
  for (int depth = 0; end < list.size() && (depth > 0 || list[end] != ','); ++end) {
    if (list[end] == '[' || list[end] == '(') ++depth;
    if (list[end] == ']' || list[end] == ')') --depth;
  }
  const std::string_view part = list.substr(0, end);
  list = end < list.size() ? list.substr(std::min(end + 2, list.size())) : std::string_view{};
  return part;
}
[[nodiscard]] constexpr bool is_identifier(std::string_view text, std::string_view others = "_") noexcept {
  for (const char c : text)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
        others.find(c) == std::string_view::npos)
      return false;
  return !text.empty();
}

}  // namespace detail

/// True for a valid schema of an operator with an overload, in torch's syntax: "ns.op.overload(Type name=default, ...)
/// -> Type". O(size).
[[nodiscard]] constexpr bool is_schema(std::string_view text) noexcept {
  const std::size_t open = text.find('('), arrow = text.rfind(") -> ");
  if (open == std::string_view::npos || arrow == std::string_view::npos || arrow < open || arrow + 5 == text.size())
    return false;
  const std::string_view name = text.substr(0, open);
  if (!detail::is_identifier(name, "_.") || name.find('.') == name.rfind('.')) return false;
  std::string_view list = text.substr(open + 1, arrow - open - 1);
  while (!list.empty()) {
    const std::size_t size = list.size();
    std::string_view part = detail::take_parameter(list);
    const std::size_t rest = size - part.size();
    if (rest != 0 &&
        (rest < 3 || text.substr(static_cast<std::size_t>(part.data() - text.data()) + part.size(), 2) != ", "))
      return false;
    if (part == "*") continue;
    part = part.substr(0, part.find('='));
    const std::size_t space = part.rfind(' ');
    if (space == std::string_view::npos || !detail::is_identifier(part.substr(space + 1))) return false;
    const std::string_view type = part.substr(0, space);
    const std::size_t alias = std::min(type.find('('), space),
                      end = std::min(type.find(')', alias), space);  // "Tensor(a -> *)[]"
    if ((alias != space && end == space) || !detail::is_identifier(type.substr(0, alias), "_.[]?") ||
        (end != space && end + 1 != space && !detail::is_identifier(type.substr(end + 1), "[]?")))
      return false;
  }
  return true;
}

/// Parses "ns.op.overload(Type name=default, *, ...) -> (Type, ...)". The text must be valid, as the schemas of
/// operator_tables are. O(size).
/// Source: the schema grammar of PyTorch's native_functions.yaml.
template <class = void>
[[nodiscard]] constexpr OperatorSchema parse_schema(std::string_view text) {
  OperatorSchema schema;
  const std::size_t open = text.find('(');
  schema.name = text.substr(0, open);
  const std::size_t arrow = text.rfind(" -> ");
  std::string_view rest = text.substr(open + 1, arrow - open - 2);
  bool keyword_only = false;
  while (!rest.empty()) {
    std::string_view part = detail::take_parameter(rest);
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    SchemaParameter parameter{.keyword_only = keyword_only};
    if (const std::size_t equals = part.find('='); equals != std::string_view::npos) {
      parameter.has_default = true;
      parameter.default_value = part.substr(equals + 1);
      part = part.substr(0, equals);
    }
    const std::size_t space = part.rfind(' ');
    parameter.name = part.substr(space + 1);
    parameter.type = part.substr(0, space);
    if (const std::size_t alias = parameter.type.find('(');
        alias != std::string_view::npos) {  // only Tensor types have an annotation
      parameter.is_written = parameter.type.find('!', alias) != std::string_view::npos;
      const std::size_t end = parameter.type.find(')', alias);
      if (end + 1 == parameter.type.size())
        parameter.type = parameter.type.substr(0, alias);
      else
        parameter.type = parameter.type.substr(end).starts_with(")[") ? "Tensor[]" : "Tensor?";
    }
    schema.parameters.push_back(parameter);
  }
  const std::string_view returns = text.substr(arrow + 4);
  if (returns != "()") {
    schema.returns = 1;
    for (std::size_t i = 0; returns.front() == '(' && i < returns.size(); ++i)
      if (returns[i] == ',') ++schema.returns;
  }
  return schema;
}

}  // namespace davit
