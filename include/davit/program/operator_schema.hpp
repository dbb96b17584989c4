// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace davit {

/// What an operator schema says of one parameter.
struct SchemaParameter {
  std::string_view type{};  ///< "Tensor", "int[2]", "Scalar?", without alias annotations
  std::string_view name{};
  std::string_view default_value{};  ///< as written: "1", "None", "[]", "True"
  bool has_default = false;
  bool keyword_only = false;

  [[nodiscard]] constexpr bool is_optional() const noexcept { return type.ends_with('?'); }
  /// The type without a trailing '?'.
  [[nodiscard]] constexpr std::string_view base() const noexcept {
    return is_optional() ? type.substr(0, type.size() - 1) : type;
  }
  [[nodiscard]] constexpr bool is_list() const noexcept { return base().ends_with(']'); }
  /// The type of a list's elements ("SymInt[2]" -> "SymInt", "Tensor?[]" -> "Tensor?"), or base() itself.
  [[nodiscard]] constexpr std::string_view element() const noexcept { return base().substr(0, base().find('[')); }
};

/// An operator's parameters and number of returns, parsed from its schema text; views into that text.
struct OperatorSchema {
  std::string_view name;
  std::vector<SchemaParameter> parameters;
  std::size_t returns = 0;

  /// Index of the parameter of that name, or parameters.size(). O(parameters).
  [[nodiscard]] constexpr std::size_t index_of(std::string_view parameter) const noexcept {
    std::size_t i = 0;
    while (i < parameters.size() && parameters[i].name != parameter) ++i;
    return i;
  }
};

/// Parses "ns.op.overload(Type name=default, *, ...) -> (Type, ...)". The text must be well formed, as the rows of
/// operator_schemas are. O(size).
/// Source: the schema grammar of PyTorch's native_functions.yaml.
[[nodiscard]] constexpr OperatorSchema parse_schema(std::string_view text) {
  OperatorSchema schema;
  const std::size_t open = text.find('(');
  schema.name = text.substr(0, open);
  const std::size_t arrow = text.rfind(" -> ");
  std::string_view rest = text.substr(open + 1, arrow - open - 2);
  bool keyword_only = false;
  while (!rest.empty()) {
    std::size_t end = 0;
    for (int depth = 0; end < rest.size() && (depth > 0 || rest[end] != ','); ++end) {
      if (rest[end] == '[' || rest[end] == '(') ++depth;
      if (rest[end] == ']' || rest[end] == ')') --depth;
    }
    std::string_view part = rest.substr(0, end);
    rest = end < rest.size() ? rest.substr(end + 2) : std::string_view{};
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
    if (const std::size_t alias = parameter.type.find("("); alias != std::string_view::npos)
      parameter.type = parameter.type.substr(0, alias);  // "Tensor(a!)": only a Tensor is annotated
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
