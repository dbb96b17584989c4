// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
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
#include "davit/formats/pt2/input_paths.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/guard.hpp"
#include "davit/program/guard_inputs.hpp"

namespace davit::formats::detail {

/// A function that guards may call.
struct GuardCall {
  std::string_view name;
  GuardOp op;
  std::uint8_t arity;  ///< 0: two or more arguments, folded from the left
};
inline constexpr auto guard_calls = std::to_array<GuardCall>({
    {"abs", GuardOp::absolute, 1},
    {"bool", GuardOp::to_bool, 1},
    {"cast_symbool_to_symint_guardless", GuardOp::to_int, 1},
    {"float", GuardOp::to_float, 1},
    {"int", GuardOp::to_int, 1},
    {"math.atan2", GuardOp::atan2, 2},
    {"math.ceil", GuardOp::ceil, 1},
    {"math.floor", GuardOp::floor, 1},
    {"math.hypot", GuardOp::hypot, 2},
    {"math.log", GuardOp::math_log, 2},
    {"math.pow", GuardOp::math_pow, 2},
    {"math.trunc", GuardOp::trunc, 1},
    {"max", GuardOp::max, 0},
    {"min", GuardOp::min, 0},
    {"round", GuardOp::round, 1},
    {"round", GuardOp::round_digits, 2},
    {"torch.sym_float", GuardOp::to_float, 1},
    {"torch.sym_int", GuardOp::to_int, 1},
    {"torch.sym_ite", GuardOp::where, 3},
    {"torch.sym_max", GuardOp::max, 0},
    {"torch.sym_min", GuardOp::min, 0},
    {"torch.sym_not", GuardOp::logical_not, 1},
});

/// A binary operator.
struct GuardOperator {
  std::string_view text;
  GuardOp op;
  int level;  ///< precedence
};
/// Longer operators first. Levels as in Python's grammar, from `if else` (1) to `**` (13).
inline constexpr auto guard_operators = std::to_array<GuardOperator>({
    {"**", GuardOp::power, 13},       {"//", GuardOp::floor_divide, 11}, {"==", GuardOp::equal, 5},
    {"!=", GuardOp::not_equal, 5},    {"<=", GuardOp::less_equal, 5},    {">=", GuardOp::greater_equal, 5},
    {"<<", GuardOp::shift_left, 9},   {">>", GuardOp::shift_right, 9},   {"<", GuardOp::less, 5},
    {">", GuardOp::greater, 5},       {"|", GuardOp::bit_or, 6},         {"^", GuardOp::bit_xor, 7},
    {"&", GuardOp::bit_and, 8},       {"+", GuardOp::add, 10},           {"-", GuardOp::subtract, 10},
    {"*", GuardOp::multiply, 11},     {"/", GuardOp::true_divide, 11},   {"%", GuardOp::modulo, 11},
    {"and", GuardOp::logical_and, 3}, {"or", GuardOp::logical_or, 2},
});

}  // namespace davit::formats::detail

namespace davit::formats {

/// Maximum nesting depth of a guard. Python's own limit is 200 nested parentheses.
inline constexpr int max_guard_depth = 256;

/// Reads guards into a program's table. A guard is a Python expression printed by torch's PythonPrinter:
/// "L['x'].size()[0] % 2 == 0".
///
/// Leaves are the number that a user input is, or a size, stride or storage offset of a tensor; paths are resolved by
/// InputPaths. Any text gives an error or a guard that fits the program. Source:
/// torch.utils._sympy.printers.PythonPrinter.
class GuardReader {
 public:
  /// Appends to `guards`, whose leaves must all belong to this program. Both must outlive the reader.
  GuardReader(const ProgramTables& program, Guards& guards)
      : inputs_(guard_inputs(program)), paths_(program), guards_(guards) {}

  /// Appends a guard. Errors: unsupported_argument, with the guard and the byte where parsing stopped; the table is
  /// then unchanged. O(size log inputs).
  [[nodiscard]] Result<void> read(std::string_view text) {
    text_ = text;
    at_ = 0;
    what_.clear();
    const std::size_t before = guards_.nodes.size();
    const Id root = expression(1, 0);
    if (root != no_guard_node && skip_blanks() != text_.size()) (void)fail("the guard should end here");
    if (!what_.empty()) {
      guards_.nodes.resize(before);
      std::erase_if(leaves_, [before](const auto& leaf) { return leaf.second >= before; });
      return load_error(ErrorCode::unsupported_argument, concat("guard ", in_quotes(text_), ", byte ", failed_at_),
                        Name(what_),
                        "export the model without the code that makes this guard, or skip it by "
                        "Pt2Options::skip_unreadable_guards or davit --skip-unreadable-guards; calls that "
                        "break it are then not refused");
    }
    guards_.roots.push_back(root);
    return {};
  }

 private:
  using Id = std::uint32_t;

  [[nodiscard]] Id fail(std::string what) {
    if (what_.empty()) {
      what_ = std::move(what);
      failed_at_ = std::min(at_, text_.size());
    }
    return no_guard_node;
  }
  [[nodiscard]] Id add(GuardNode node) {
    if (guards_.nodes.size() >= max_guard_nodes) return fail("the guards of the model are too many, or too long");
    guards_.nodes.push_back(node);
    return static_cast<Id>(guards_.nodes.size() - 1);
  }
  /// Adds a node, unless one of its operands has failed.
  [[nodiscard]] Id add(GuardOp op, Id a, Id b = no_guard_node, Id c = no_guard_node) {
    const std::uint32_t count = guard_operands(op);
    if (a == no_guard_node || (count > 1 && b == no_guard_node) || (count > 2 && c == no_guard_node))
      return no_guard_node;
    return add(GuardNode{.op = op, .a = a, .b = b, .c = c});
  }
  [[nodiscard]] Id real(double value) {
    return add(GuardNode{.op = GuardOp::real, .value = std::bit_cast<std::int64_t>(value)});
  }
  [[nodiscard]] Id boolean(bool value) { return add(GuardNode{.op = GuardOp::boolean, .value = value ? 1 : 0}); }

  [[nodiscard]] static constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  [[nodiscard]] static constexpr bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  std::size_t skip_blanks() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
    return at_;
  }
  /// Skips blanks and returns the next character; 0 at the end.
  [[nodiscard]] char next() noexcept { return skip_blanks() < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) noexcept {
    if (next() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  /// True if `word` comes next. A word of letters must not be followed by a letter or digit.
  [[nodiscard]] bool is_next(std::string_view word) noexcept {
    if (!text_.substr(skip_blanks()).starts_with(word)) return false;
    const std::size_t end = at_ + word.size();
    return !is_letter(word[0]) || end == text_.size() || !(is_letter(text_[end]) || is_digit(text_[end]));
  }
  bool take(std::string_view word) noexcept {
    if (!is_next(word)) return false;
    at_ += word.size();
    return true;
  }
  /// Reads a dotted name: "math.floor".
  [[nodiscard]] std::string_view name() noexcept {
    const std::size_t first = skip_blanks();
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    return text_.substr(first, at_ - first);
  }

  /// Parses operators of at least this precedence, with their operands.
  [[nodiscard]] Id expression(int level, int depth) {
    if (depth > max_guard_depth) return fail("the guard is nested too deeply");
    Id left = prefix(level, depth);
    while (left != no_guard_node) {
      const detail::GuardOperator* found = nullptr;
      for (const detail::GuardOperator& each : detail::guard_operators)
        if (is_next(each.text)) {
          found = &each;
          break;
        }
      if (found == nullptr || found->level < level) break;
      if (found->level == 5) {
        left = comparisons(left, depth);
        continue;
      }
      at_ += found->text.size();
      left = add(found->op, left, expression(found->op == GuardOp::power ? 12 : found->level + 1, depth + 1));
    }
    if (level > 1 || left == no_guard_node || !take("if")) return left;
    const Id condition = expression(2, depth + 1);
    if (condition == no_guard_node) return no_guard_node;
    if (!take("else")) return fail("expected 'else'");
    return add(GuardOp::where, condition, left, expression(1, depth + 1));
  }
  /// Parses chained comparisons: "a < b <= c" is "a < b and b <= c".
  [[nodiscard]] Id comparisons(Id left, int depth) {
    Id all = no_guard_node;
    while (true) {
      const auto found = std::ranges::find_if(detail::guard_operators,
                                              [&](const detail::GuardOperator& each) { return is_next(each.text); });
      if (found == detail::guard_operators.end() || found->level != 5) return all;
      at_ += found->text.size();
      const Id right = expression(6, depth + 1);
      const Id one = add(found->op, left, right);
      all = all == no_guard_node ? one : add(GuardOp::logical_and, all, one);
      if (one == no_guard_node || all == no_guard_node) return no_guard_node;
      left = right;
    }
  }
  [[nodiscard]] Id prefix(int level, int depth) {
    if (is_next("not")) {
      if (level > 4) return fail("'not' cannot stand here without parentheses");
      at_ += 3;
      return add(GuardOp::logical_not, expression(4, depth + 1));
    }
    if (take('-')) {
      if (constexpr std::string_view least = "9223372036854775808"; is_next(least)) {  // fits int64 only with its sign
        const std::size_t end = at_ + least.size();
        if (end == text_.size() ||
            !(is_digit(text_[end]) || is_letter(text_[end]) || text_[end] == '.' || text_[end] == '*')) {
          at_ = end;
          return add(GuardNode{.value = INT64_MIN});
        }
      }
      return add(GuardOp::negative, expression(12, depth + 1));
    }
    if (take('+')) return add(GuardOp::positive, expression(12, depth + 1));
    if (take('~')) return add(GuardOp::invert, expression(12, depth + 1));
    return primary(depth);
  }
  [[nodiscard]] Id primary(int depth) {
    const char c = next();
    if (is_digit(c) || c == '.') return number();
    if (take('(')) {
      const Id inner = expression(1, depth + 1);
      if (inner != no_guard_node && !take(')')) return fail("expected ')'");
      return inner;
    }
    if (!is_letter(c)) return fail(c == '\0' ? "the guard ends early" : "expected a number, a size or a function");
    const std::size_t begin = at_;
    const std::string_view word = name();
    if (word == "L") return leaf();
    if (word == "True" || word == "False") return boolean(word == "True");
    if (word == "math.inf" || word == "int_oo") return real(std::numeric_limits<double>::infinity());
    if (word == "math.nan") return real(std::numeric_limits<double>::quiet_NaN());
    if (word == "math.pi") return real(3.14159265358979323846);
    if (word == "math.e") return real(2.71828182845904523536);
    if (word == "math.tau") return real(6.28318530717958647692);
    return call(word, begin, depth);
  }
  [[nodiscard]] Id number() {
    const std::size_t first = at_;
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.' ||
            ((text_[at_] == '-' || text_[at_] == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))))
      ++at_;
    const std::string_view word = text_.substr(first, at_ - first);
    const char* const end = word.data() + word.size();
    const auto is_all = [&](const auto& result) { return result.ec == std::errc() && result.ptr == end; };
    std::int64_t integer = 0;
    if (std::ranges::all_of(word, is_digit)) {
      if (is_all(std::from_chars(word.data(), end, integer)) && (integer == 0 || word[0] != '0'))
        return add(GuardNode{.value = integer});
      at_ = first;
      return fail(in_quotes(word) + " is no integer of 64 bits");
    }
    double value = 0;
    if (is_all(real_from_chars(word.data(), end, value))) return real(value);
    at_ = first;
    return fail(in_quotes(word) + " is no number");
  }
  [[nodiscard]] Id call(std::string_view word, std::size_t begin, int depth) {
    if (word.ends_with(".cast_symbool_to_symint_guardless") || word.ends_with(".IsNonOverlappingAndDenseIndicator"))
      word = word.substr(word.rfind('.') + 1);
    const bool is_indicator = word == "IsNonOverlappingAndDenseIndicator";
    const std::span<const GuardFunction> functions = guard_functions();
    const auto function = std::ranges::find(functions, word, &GuardFunction::name);
    const bool is_known =
        is_indicator || function != functions.end() ||
        std::ranges::find(detail::guard_calls, word, &detail::GuardCall::name) != detail::guard_calls.end();
    if (!is_known || !take('(')) {
      at_ = begin;
      return fail(is_known ? in_quotes(word) + " is not called" : in_quotes(word) + " is not known");
    }
    std::vector<Id> arguments;
    while (!take(')')) {
      if (!arguments.empty() && !take(',')) return fail("expected ',' or ')'");
      if (!arguments.empty() && take(')')) break;  // f(a,)
      arguments.push_back(expression(1, depth + 1));
      if (arguments.back() == no_guard_node) return no_guard_node;
    }
    if (is_indicator && !arguments.empty() && arguments.size() % 2 == 0 && arguments.size() <= 128)
      return indicator(arguments);
    if (function != functions.end() && arguments.size() == 1)
      return add(GuardNode{.op = GuardOp::function, .a = arguments[0], .value = function - functions.begin()});
    for (const detail::GuardCall& each : detail::guard_calls) {
      if (each.name != word) continue;
      if (each.arity == 0 && arguments.size() >= 2) {
        Id folded = arguments[0];
        for (const Id argument : std::span(arguments).subspan(1)) folded = add(each.op, folded, argument);
        return folded;
      }
      if (each.arity != 0 && each.arity == arguments.size())
        return add(each.op, arguments[0], each.arity > 1 ? arguments[1] : no_guard_node,
                   each.arity > 2 ? arguments[2] : no_guard_node);
    }
    at_ = begin;
    return fail(in_quotes(word) + " does not take " + std::to_string(arguments.size()) + " arguments");
  }
  [[nodiscard]] Id indicator(std::span<const Id> arguments) {
    Id last = no_guard_node;
    for (const Id argument : arguments) {
      last = add(GuardNode{.op = GuardOp::argument, .a = last, .b = argument});
      if (last == no_guard_node) return last;
    }
    return add(GuardOp::non_overlapping_and_dense, last);
  }

  /// Reads the contents of brackets: a quoted text or a number; nullopt for anything else.
  [[nodiscard]] std::optional<std::string> subscript() {
    std::string key;
    const char quote = next();
    if (quote == '\'' || quote == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
        if (text_[at_] == '\\' &&
            (++at_ == text_.size() || (text_[at_] != '\\' && text_[at_] != '\'' && text_[at_] != '"')))
          return std::nullopt;
        key += text_[at_];
      }
      if (!take(quote)) return std::nullopt;
    } else {
      if (take('-')) key = "-";
      while (at_ < text_.size() && is_digit(text_[at_])) key += text_[at_++];
      if (key.empty() || key == "-") return std::nullopt;
    }
    if (!take(']')) return std::nullopt;
    return key;
  }
  /// Parses a leaf: L['x'][0].size()[1]
  [[nodiscard]] Id leaf() {
    const std::size_t begin = at_ - 1;
    std::vector<std::string> path;
    while (true) {
      if (take('[')) {
        const std::optional<std::string> key = subscript();
        if (!key) return fail("expected the name or the number of an input");
        path.push_back(*key);
        continue;
      }
      const std::size_t before = at_;
      if (!take('.')) break;
      const std::string_view word = attribute();
      const bool is_shape = word == "shape" && next() == '[';
      if (word.empty()) return fail("expected 'size', 'stride' or 'storage_offset'");
      if (is_shape || (next() == '(' && (word == "size" || word == "stride" || word == "storage_offset")))
        return of_tensor(path, word, begin);
      if (next() == '(') {
        at_ = before;
        return fail(in_quotes(word) + " is not known");
      }
      path.emplace_back(word);  // field of a dataclass
    }
    const std::optional<Id> input = find(path);
    if (!input || !inputs_[*input].is_number) {
      at_ = begin;
      return fail(input ? "this input is no number" : no_input);
    }
    return intern({.op = GuardOp::input, .a = *input});
  }
  [[nodiscard]] std::string_view attribute() noexcept {
    const std::size_t first = skip_blanks();
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > first && is_digit(text_[at_])))) ++at_;
    return text_.substr(first, at_ - first);
  }
  /// Parses size()[0], size(0), shape[0], stride()[0], stride(0) or storage_offset() after a path.
  [[nodiscard]] Id of_tensor(const std::vector<std::string>& path, std::string_view word, std::size_t begin) {
    std::optional<std::string> dim;
    const bool is_offset = word == "storage_offset";
    if (take('(') && !take(')')) {
      dim = in_parentheses();
      if (!dim) return fail("expected the number of a dimension");
    }
    if (!is_offset && !dim) {
      if (take('[')) dim = subscript();
      if (!dim) return fail("expected the number of a dimension");
    }
    const std::optional<Id> input = find(path);
    const std::size_t end = std::exchange(at_, begin);
    if (!input || !inputs_[*input].is_tensor || (is_offset && dim))
      return fail(input ? "this input is no tensor" : no_input);
    if (is_offset) {
      at_ = end;
      return intern({.op = GuardOp::storage_offset, .a = *input});
    }
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(dim->data(), dim->data() + dim->size(), number);
    const auto rank = static_cast<std::int64_t>(inputs_[*input].rank);
    if (error != std::errc() || stop != dim->data() + dim->size() || number < -rank || number >= rank)
      return fail("this input has no such dimension");
    at_ = end;
    return intern({.op = word == "stride" ? GuardOp::stride : GuardOp::size,
                   .a = *input,
                   .b = static_cast<Id>(number < 0 ? number + rank : number)});
  }
  [[nodiscard]] std::optional<std::string> in_parentheses() {
    std::string digits = take('-') ? "-" : "";
    while (next() != '\0' && is_digit(text_[at_])) digits += text_[at_++];
    if (!take(')')) return std::nullopt;
    return digits;
  }
  [[nodiscard]] std::optional<Id> find(const std::vector<std::string>& path) const {
    if (path.empty()) return std::nullopt;
    return paths_.find(path[0], std::span(path).subspan(1));
  }
  /// Returns the node of a leaf; equal leaves share one node.
  [[nodiscard]] Id intern(GuardNode leaf) {
    const auto [at, is_new] = leaves_.try_emplace({static_cast<std::uint32_t>(leaf.op), leaf.a, leaf.b}, no_guard_node);
    if (is_new) at->second = add(leaf);
    const Id id = at->second;
    if (id == no_guard_node) leaves_.erase(at);
    return id;
  }

  static constexpr const char* no_input = "this leads to no user input of the model";
  std::vector<GuardInput> inputs_;
  InputPaths paths_;
  Guards& guards_;
  std::map<std::array<std::uint32_t, 3>, Id> leaves_{};
  std::string_view text_{};
  std::size_t at_ = 0;
  std::size_t failed_at_ = 0;
  std::string what_{};
};

}  // namespace davit::formats
