// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowering/rule_evaluator.hpp"

namespace davit::detail {

/// Parses a text of the rule language and evaluates it in one pass.
class RuleReader {
 public:
  RuleReader(RuleEvaluator& rules, std::string_view text, std::size_t at = 0) : r_(rules), text_(text), at_(at) {}

  void define(std::string_view name, Item value) { variables_.push_back({name, std::move(value)}); }
  [[nodiscard]] bool take(std::string_view token);
  [[nodiscard]] std::string_view identifier();
  [[nodiscard]] bool is_at_end() const noexcept { return at_ >= text_.size(); }
  /// Reads a primary expression: "3", "f(x)", "[1, 2]".
  [[nodiscard]] Item primary();
  /// Reads assignments and the result, to the end of the text.
  [[nodiscard]] Item body();
  /// Reads the arguments of a call behind its '('.
  [[nodiscard]] std::vector<NamedItem> arguments_of();
  /// The variables, in the order of their definition.
  template <class Visit>
  void for_each_variable(Visit&& visit) {
    for (Variable& v : variables_) visit(v.value);
  }

 private:
  struct Variable {
    std::string_view name;
    Item value;
  };
  void skip();
  /// Skips an expression without evaluating it: up to '||' at level 0, '&&' at level 1.
  void pass_by(int level);
  [[nodiscard]] Item expression();
  [[nodiscard]] Item operation(int level);
  [[nodiscard]] Item unary();
  [[nodiscard]] Item literal();
  [[nodiscard]] Item bracket();
  [[nodiscard]] Item fold(bool keeps_all);
  /// Evaluates the expression at the current position for each item, bound to `name`.
  template <class Each>
  void each(std::string_view name, const std::vector<Item>& items, Each&& each);

  RuleEvaluator& r_;
  std::string_view text_;
  std::size_t at_;
  std::vector<Variable> variables_{};
};

}  // namespace davit::detail
