// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "davit/core/real_from_chars.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/graph_builder.hpp"

namespace davit::formats::detail {

/// A token of an expression printed by sympy's srepr.
struct SympyToken {
  enum class Kind : std::uint8_t { name, number, string, open, close, comma, equals, end, invalid };
  Kind kind = Kind::end;
  std::string_view text;   ///< without the quotes of a string
  std::size_t offset = 0;  ///< in the expression
};

/// Splits an expression into tokens.
class SympyLexer {
 public:
  explicit SympyLexer(std::string_view text) noexcept : text_(text) { advance(); }

  [[nodiscard]] const SympyToken& peek() const noexcept { return token_; }
  /// Returns the current token and advances.
  SympyToken take() noexcept {
    const SympyToken taken = token_;
    advance();
    return taken;
  }
  /// Advances if the current token is of this kind.
  bool take_if(SympyToken::Kind kind) noexcept {
    if (token_.kind != kind) return false;
    advance();
    return true;
  }

 private:
  using Kind = SympyToken::Kind;

  void advance() noexcept {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    token_ = {.kind = Kind::end, .text = {}, .offset = at_};
    if (at_ == text_.size()) return;
    const char c = text_[at_];
    if (is_letter(c)) return span(Kind::name, is_word);
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return span(Kind::number, is_number);
    if (c == '\'' || c == '"') return string(c);
    const std::size_t mark = std::string_view("(),=").find(c);
    constexpr Kind marks[] = {Kind::open, Kind::close, Kind::comma, Kind::equals};
    token_.kind = mark == std::string_view::npos ? Kind::invalid : marks[mark];
    ++at_;
  }
  void span(Kind kind, bool (*belongs)(char)) noexcept {
    const std::size_t first = at_++;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    token_.kind = kind;
    token_.text = text_.substr(first, at_ - first);
  }
  void string(char quote) noexcept {
    const std::size_t first = ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\\') ++at_;
    token_.text = text_.substr(first, at_ - first);
    token_.kind = at_ < text_.size() && text_[at_] == quote ? Kind::string : Kind::invalid;
    if (at_ < text_.size()) ++at_;
  }
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_word(char c) noexcept { return is_letter(c) || is_digit(c) || c == '.'; }
  static bool is_number(char c) noexcept {
    return is_digit(c) || c == '.' || c == 'e' || c == '-' || c == '+' || c == 'o';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  SympyToken token_;
};

/// A function of sympy or torch.utils._sympy.functions, and its operator.
struct SympyFunction {
  std::string_view name;
  ExprOp op;
  std::uint8_t arity;  ///< 0: any number, folded from the left
};
inline constexpr auto sympy_functions = std::to_array<SympyFunction>({
    {"Add", ExprOp::add, 0},
    {"And", ExprOp::logical_and, 0},
    {"CeilToInt", ExprOp::ceil_to_int, 1},
    {"CleanDiv", ExprOp::floor_div, 2},
    {"Equality", ExprOp::eq, 2},
    {"FloatPow", ExprOp::pow, 2},
    {"FloatTrueDiv", ExprOp::true_div, 2},
    {"FloorDiv", ExprOp::floor_div, 2},
    {"FloorToInt", ExprOp::floor_to_int, 1},
    {"GreaterThan", ExprOp::ge, 2},
    {"IntTrueDiv", ExprOp::int_true_div, 2},
    {"LessThan", ExprOp::le, 2},
    {"Max", ExprOp::max, 0},
    {"Min", ExprOp::min, 0},
    {"Mod", ExprOp::mod, 2},
    {"ModularIndexing", ExprOp::modular_indexing, 3},
    {"Mul", ExprOp::mul, 0},
    {"Not", ExprOp::logical_not, 1},
    {"Or", ExprOp::logical_or, 0},
    {"Pow", ExprOp::pow, 2},
    {"PowByNatural", ExprOp::pow, 2},
    {"PythonMod", ExprOp::python_mod, 2},
    {"RoundToInt", ExprOp::round_to_int, 1},
    {"StrictGreaterThan", ExprOp::gt, 2},
    {"StrictLessThan", ExprOp::lt, 2},
    {"ToFloat", ExprOp::to_float, 1},
    {"TruncToInt", ExprOp::trunc_to_int, 1},
    {"Unequality", ExprOp::ne, 2},
    {"Where", ExprOp::where, 3},
    {"ceiling", ExprOp::ceil_to_int, 1},
    {"floor", ExprOp::floor_to_int, 1},
});

}  // namespace davit::formats::detail

namespace davit::formats {

/// Maximum nesting depth of functions in an expression.
inline constexpr int max_expression_depth = 256;

/// Reads symbolic expressions, printed by sympy's srepr, into a program's tables.
///
/// The texts must outlive the reader: equal texts and equal symbols give the same expression. Ignores sympy's
/// assumptions about symbols. N-ary functions become binary operators.
class SympyReader {
 public:
  explicit SympyReader(GraphBuilder& builder) noexcept : builder_(builder) {}

  /// Reads an expression. Errors: corrupt_data with the place in the text; unsupported_argument with the name of an
  /// unknown function. O(size); O(log texts) for a known text.
  [[nodiscard]] Result<ExprId> read(std::string_view text);

 private:
  using Kind = detail::SympyToken::Kind;
  using Token = detail::SympyToken;

  [[nodiscard]] std::unexpected<Error> fail(const Token& token, const Name& what) const {
    return corrupt(concat("expression ", in_quotes(text_), ", byte ", token.offset), what);
  }
  [[nodiscard]] Result<ExprId> expression(detail::SympyLexer& tokens, int depth);
  [[nodiscard]] Result<ExprId> function(const Token& name, detail::SympyLexer& tokens, int depth);
  [[nodiscard]] Result<ExprId> operation(const Token& name, std::span<const ExprId> operands);
  [[nodiscard]] Result<ExprId> constant(const Token& word);
  [[nodiscard]] Result<ExprId> literal(const Token& name, detail::SympyLexer& tokens);
  [[nodiscard]] Result<ExprId> rational(detail::SympyLexer& tokens);
  [[nodiscard]] bool skip_assumptions(detail::SympyLexer& tokens);
  [[nodiscard]] ExprId symbol(std::string_view name);
  [[nodiscard]] ExprId real(double value) {
    return builder_.expr({.op = ExprOp::real, .value = std::bit_cast<std::int64_t>(value)});
  }
  template <class Number>
  [[nodiscard]] static std::optional<Number> parse(std::string_view text) {
    Number number{};
    const auto [end, error] = number_from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
  }

  GraphBuilder& builder_;
  std::string_view text_;
  std::map<std::string_view, ExprId> known_;
  std::map<std::string_view, ExprId> symbols_;
};

inline Result<ExprId> SympyReader::read(std::string_view text) {
  if (const auto at = known_.find(text); at != known_.end()) return at->second;
  text_ = text;
  detail::SympyLexer tokens(text);
  Result<ExprId> id = expression(tokens, 0);
  if (!id) return id;
  if (tokens.peek().kind != Kind::end) return fail(tokens.peek(), "the expression should end here");
  known_.emplace(text, *id);
  return id;
}

inline Result<ExprId> SympyReader::expression(detail::SympyLexer& tokens, int depth) {
  if (depth > max_expression_depth) return fail(tokens.peek(), "the expression is nested too deeply");
  const Token word = tokens.take();
  if (word.kind == Kind::name && tokens.take_if(Kind::open)) return function(word, tokens, depth);
  if (word.kind == Kind::name || word.kind == Kind::number) return constant(word);
  return fail(word, "expected a number or a function");
}

inline Result<ExprId> SympyReader::function(const Token& name, detail::SympyLexer& tokens, int depth) {
  if (name.text == "Symbol" || name.text == "Integer" || name.text == "Float") return literal(name, tokens);
  if (name.text == "Rational") return rational(tokens);
  std::vector<ExprId> operands;
  while (!tokens.take_if(Kind::close)) {
    if (!operands.empty() && !tokens.take_if(Kind::comma)) return fail(tokens.peek(), "expected ',' or ')'");
    Result<ExprId> operand = expression(tokens, depth + 1);
    if (!operand) return operand;
    operands.push_back(*operand);
  }
  return operation(name, operands);
}

inline Result<ExprId> SympyReader::operation(const Token& name, std::span<const ExprId> operands) {
  if (name.text == "Identity" && operands.size() == 1) return operands[0];
  if (operands.empty()) {
    if (name.text == "IntInfinity" || name.text == "Infinity") return real(std::numeric_limits<double>::infinity());
    if (name.text == "NegativeIntInfinity" || name.text == "NegativeInfinity")
      return real(-std::numeric_limits<double>::infinity());
  }
  const auto known = std::find_if(detail::sympy_functions.begin(), detail::sympy_functions.end(),
                                  [&](const detail::SympyFunction& f) { return f.name == name.text; });
  if (known == detail::sympy_functions.end()) {
    return load_error(ErrorCode::unsupported_argument, concat("expression ", in_quotes(text_), ", byte ", name.offset),
                      concat("function ", in_quotes(name.text), " is not known"),
                      "export the program with sizes that need no such function");
  }
  if (operands.empty() || (known->arity != 0 && operands.size() != known->arity))
    return fail(name, concat(in_quotes(name.text), " does not take ", operands.size(), " operands"));
  if (known->arity == 0) {
    ExprId folded = operands[0];
    for (const ExprId operand : operands.subspan(1))
      folded = builder_.expr({.op = known->op, .a = folded, .b = operand});
    return folded;
  }
  const auto at = [&](std::size_t i) { return i < operands.size() ? operands[i] : no_id; };
  return builder_.expr({.op = known->op, .a = at(0), .b = at(1), .c = at(2)});
}

/// Reads a word without parentheses: a number, a truth value, or an infinity.
inline Result<ExprId> SympyReader::constant(const Token& word) {
  if (word.text == "true" || word.text == "True") return builder_.expr({.op = ExprOp::boolean, .value = 1});
  if (word.text == "false" || word.text == "False") return builder_.expr({.op = ExprOp::boolean, .value = 0});
  if (word.text == "oo" || word.text == "int_oo") return real(std::numeric_limits<double>::infinity());
  if (word.text == "-oo") return real(-std::numeric_limits<double>::infinity());
  if (const auto integer = parse<std::int64_t>(word.text))
    return builder_.expr({.op = ExprOp::integer, .value = *integer});
  if (const auto number = parse<double>(word.text)) return real(*number);
  return fail(word, concat(in_quotes(word.text), " is not a number of 64 bits"));
}

/// Reads Symbol('s0', positive=True), Integer(3) or Float('0.5', precision=53).
inline Result<ExprId> SympyReader::literal(const Token& name, detail::SympyLexer& tokens) {
  const Token value = tokens.take();
  if (!skip_assumptions(tokens)) return fail(tokens.peek(), "expected ')'");
  if (name.text == "Symbol") {
    if (value.kind != Kind::string || value.text.empty()) return fail(value, "expected the name of a symbol");
    return symbol(value.text);
  }
  if (name.text == "Float") {
    const auto number = parse<double>(value.text);
    if (!number) return fail(value, "expected a number");
    return real(*number);
  }
  const auto integer = parse<std::int64_t>(value.text);
  if (!integer) return fail(value, "expected an integer of 64 bits");
  return builder_.expr({.op = ExprOp::integer, .value = *integer});
}

/// Reads Rational(1, 2).
inline Result<ExprId> SympyReader::rational(detail::SympyLexer& tokens) {
  const Token numerator = tokens.take();
  const bool comma = tokens.take_if(Kind::comma);
  const Token denominator = tokens.take();
  const auto p = parse<std::int64_t>(numerator.text);
  const auto q = parse<std::uint32_t>(denominator.text);
  if (!comma || !p || !q || *q == 0 || !tokens.take_if(Kind::close)) return fail(numerator, "expected two integers");
  return builder_.expr({.op = ExprOp::rational, .c = *q, .value = *p});
}

/// Skips any number of `, name=value`, then ')'.
inline bool SympyReader::skip_assumptions(detail::SympyLexer& tokens) {
  while (tokens.take_if(Kind::comma)) {
    if (!tokens.take_if(Kind::name) || !tokens.take_if(Kind::equals)) return false;
    if (!tokens.take_if(Kind::name) && !tokens.take_if(Kind::number)) return false;
  }
  return tokens.take_if(Kind::close);
}

inline ExprId SympyReader::symbol(std::string_view name) {
  const auto [at, is_new] = symbols_.try_emplace(name, no_id);
  if (is_new) at->second = builder_.expr({.op = ExprOp::symbol, .name = builder_.text(name)});
  return at->second;
}

}  // namespace davit::formats
