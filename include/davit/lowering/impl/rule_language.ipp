// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <utility>

#include "davit/core/real_from_chars.hpp"
#include "davit/lowering/rule_evaluator.hpp"

namespace davit {

namespace detail {
[[nodiscard]] constexpr bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}
}  // namespace detail

void RuleEvaluator::skip(Scope& s) {
  while (s.at < s.text.size() && (s.text[s.at] == ' ' || s.text[s.at] == '\n')) ++s.at;
}
bool RuleEvaluator::take(Scope& s, std::string_view token) {
  skip(s);
  if (!s.text.substr(s.at).starts_with(token)) return false;
  s.at += token.size();
  return true;
}
std::string_view RuleEvaluator::identifier(Scope& s) {
  skip(s);
  const std::size_t first = s.at;
  while (s.at < s.text.size() && detail::is_word(s.text[s.at])) ++s.at;
  if (s.at == first) (void)fail("a rule lacks a name");
  return s.text.substr(first, s.at - first);
}

Item RuleEvaluator::body(Scope& s) {
  while (emit.fault == nullptr) {
    skip(s);
    const std::size_t first = s.at;
    if (s.at < s.text.size() && s.text[s.at] >= 'a' && s.text[s.at] <= 'z') {
      const std::string_view name = identifier(s);
      skip(s);
      if (s.text.substr(s.at).starts_with('=') && !s.text.substr(s.at).starts_with("==")) {
        ++s.at;
        Item value = expression(s);
        if (!take(s, ";")) return fail("a rule ends without a result");
        s.variables.push_back({name, std::move(value)});
        continue;
      }
    }
    s.at = first;
    Item result = expression(s);
    skip(s);
    if (s.at != s.text.size() && emit.fault == nullptr) return fail("a rule goes on after its result");
    return result;
  }
  return {};
}

void RuleEvaluator::pass_by(Scope& s, int level) {
  int brackets = 0, conditions = 0;
  for (; s.at < s.text.size(); ++s.at) {
    const char c = s.text[s.at];
    const std::string_view rest = s.text.substr(s.at);
    if (c == '\'') s.at = std::min(s.text.find('\'', s.at + 1), s.text.size() - 1);
    if (c == '(' || c == '[') ++brackets;
    if ((c == ')' || c == ']') && brackets-- == 0) return;
    if (brackets != 0) continue;
    if (c == ',' || c == ';' || (c == ':' && conditions-- == 0)) return;
    if (level >= 0 && (c == '?' || rest.starts_with("||") || (level > 0 && rest.starts_with("&&")))) return;
    if (c == '?') ++conditions;
  }
}

Item RuleEvaluator::expression(Scope& s) {
  Item condition = operation(s, 0);
  if (emit.fault != nullptr || !take(s, "?")) return condition;
  const bool yes = truth(condition);
  Item chosen;
  if (yes)
    chosen = expression(s);
  else
    pass_by(s, -1);
  if (!take(s, ":")) return fail("a condition without an alternative");
  if (yes)
    pass_by(s, -1);
  else
    chosen = expression(s);
  return chosen;
}

Item RuleEvaluator::operation(Scope& s, int level) {
  static constexpr std::string_view tokens[][6] = {
      {"||"}, {"&&"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "//", "/", "%"}};
  if (level == 5) return unary(s);
  Item left = operation(s, level + 1);
  while (emit.fault == nullptr) {
    skip(s);
    if (s.at >= s.text.size() || std::string_view("|&=!<>+-*/%").find(s.text[s.at]) == std::string_view::npos) break;
    std::string_view found;
    for (const std::string_view token : tokens[level])
      if (found.empty() && !token.empty() && take(s, token)) found = token;
    if (found.empty()) break;
    if (level < 2) {
      const bool decided = truth(left) == (level == 0);
      if (decided) pass_by(s, level);
      left = Item::boolean(decided ? level == 0 : truth(operation(s, level + 1)));
      continue;
    }
    Item right = operation(s, level + 1);
    if (emit.fault == nullptr) left = binary(found, left, right);
  }
  return left;
}

Item RuleEvaluator::unary(Scope& s) {
  Item out;
  if (take(s, "-")) {
    out = unary(s);
    out = is_tensor(out)                 ? call("neg", {{"", out}})
          : out.is(ArgumentKind::float_) ? Item::of(GraphBuilder::real(-number(out)))
                                         : binary("*", Item::integer(-1), out);
  } else if (take(s, "!")) {
    out = Item::boolean(!truth(unary(s)));
  } else {
    out = primary(s);
    while (take(s, "[")) {
      const bool from_start = s.text.substr(s.at).starts_with(':');
      const Item first = from_start ? Item::integer(0) : expression(s);
      const bool slice = take(s, ":");
      skip(s);
      const auto count = static_cast<std::int64_t>(out.items.size());
      const Item last = slice && !s.text.substr(s.at).starts_with(']') ? expression(s) : Item::integer(count);
      if (!take(s, "]")) return fail("an index is not closed");
      std::int64_t a = integer(first), b = integer(last);
      if (a < 0) a += count;
      if (b < 0) b += count;
      if (!out.is_list() || a < 0 || (!slice && a >= count)) return fail("an index out of range");
      if (!slice) {
        Item one = std::move(out.items[static_cast<std::size_t>(a)]);
        out = std::move(one);
        continue;
      }
      b = std::clamp(b, std::min(a, count), count);
      a = std::min(a, count);
      out = Item::list(
          {out.items.begin() + static_cast<std::ptrdiff_t>(a), out.items.begin() + static_cast<std::ptrdiff_t>(b)});
    }
  }
  return out;
}

Item RuleEvaluator::primary(Scope& s) {
  skip(s);
  const std::string_view rest = s.text.substr(s.at);
  if (rest.empty()) return fail("a rule ends early");
  if (rest[0] == '[') return bracket(s);
  if (take(s, "(")) {
    Item inner = expression(s);
    if (!take(s, ")")) return fail("a parenthesis is not closed");
    return inner;
  }
  if (rest[0] == '\'' || rest[0] == '-' || (rest[0] >= '0' && rest[0] <= '9')) return literal(s);
  const std::string_view name = identifier(s);
  if (emit.fault != nullptr) return {};
  if (take(s, "(")) {
    if (name == "fold" || name == "scan") return fold(s, name == "scan");
    std::vector<NamedItem> arguments;
    while (!take(s, ")")) {
      skip(s);
      const std::size_t before = s.at;
      std::string_view keyword;
      if (s.at < s.text.size() && detail::is_word(s.text[s.at])) {
        keyword = identifier(s);
        if (!take(s, "=") || s.text.substr(s.at).starts_with('=')) {
          keyword = {};
          s.at = before;
        }
      }
      arguments.push_back({keyword, expression(s)});
      (void)take(s, ",");
      if (emit.fault != nullptr || s.at >= s.text.size()) return fail("a call is not closed");
    }
    return call(name, std::move(arguments));
  }
  for (std::size_t i = s.variables.size(); i-- > 0;)
    if (s.variables[i].name == name) return s.variables[i].value;
  if (name == "none") return {};
  if (name == "true" || name == "false") return Item::boolean(name == "true");
  if (name == "contiguous_format")
    return Item::of(
        {.payload = static_cast<std::int64_t>(MemoryFormat::contiguous), .kind = ArgumentKind::memory_format});
  if (name == "inf") return Item::of(GraphBuilder::real(std::numeric_limits<double>::infinity()));
  if (name == "nan") return Item::of(GraphBuilder::real(std::numeric_limits<double>::quiet_NaN()));
  if (name == "out" && !outputs.empty()) {
    Item sizes = Item::list({});
    for (const Dim& d : outputs[0].sizes) sizes.items.push_back(emit.item(d));
    return sizes;
  }
  if (name == "outtype" && !outputs.empty()) return Item::of(GraphBuilder::scalar_type(outputs[0].dtype));
  if (const ScalarType type = scalar_type_named(name); type != ScalarType::undefined)
    return Item::of(GraphBuilder::scalar_type(type));
  return fail("a rule names what is not there");
}

Item RuleEvaluator::literal(Scope& s) {
  const std::string_view rest = s.text.substr(s.at);
  if (rest[0] == '\'') {
    const std::size_t end = rest.find('\'', 1);
    if (end == std::string_view::npos) return fail("a string is not closed");
    s.at += end + 1;
    return {.argument = {.kind = ArgumentKind::string}, .text = rest.substr(1, end - 1)};
  }
  std::int64_t whole = 0;
  double real = 0;
  const char* const last = rest.data() + rest.size();
  const auto as_whole = std::from_chars(rest.data(), last, whole);
  const auto as_real = real_from_chars(rest.data(), last, real);
  s.at += static_cast<std::size_t>(as_real.ptr - rest.data());
  return as_real.ptr == as_whole.ptr ? Item::integer(whole) : Item::of(GraphBuilder::real(real));
}

template <class Each>
void RuleEvaluator::each(Scope& s, std::string_view name, const std::vector<Item>& items, Each&& each) {
  if (items.empty()) return pass_by(s, -1);
  const std::size_t start = s.at;
  s.variables.push_back({name, {}});
  for (std::size_t i = 0; i < items.size() && emit.fault == nullptr; ++i) {
    s.at = start;
    s.variables.back().value = items[i];
    Item value = expression(s);
    each(std::move(value));
  }
  s.variables.pop_back();
}

Item RuleEvaluator::bracket(Scope& s) {
  ++s.at;
  skip(s);
  const std::size_t before = s.at;
  std::vector<Item> items;
  if (s.at < s.text.size() && detail::is_word(s.text[s.at])) {
    const std::string_view name = identifier(s);
    if (take(s, "in ")) {
      const Item list = expression(s);
      if (!take(s, ":")) return fail("a list cannot be read");
      each(s, name, list.items, [&](Item item) { items.push_back(std::move(item)); });
      if (!take(s, "]")) return fail("a list is not closed");
      return Item::list(std::move(items));
    }
    s.at = before;
  }
  while (!take(s, "]")) {
    items.push_back(expression(s));
    (void)take(s, ",");
    if (emit.fault != nullptr || s.at >= s.text.size()) return fail("a list is not closed");
  }
  return Item::list(std::move(items));
}

/// `fold(a: start; i in list: x)` or `scan(...)`
Item RuleEvaluator::fold(Scope& s, bool keeps_all) {
  const std::string_view name = identifier(s);
  if (!take(s, ":")) return fail("a fold cannot be read");
  Item start = expression(s);
  const bool separated = take(s, ";");
  const std::string_view index = identifier(s);
  if (!separated || !take(s, "in ")) return fail("a fold cannot be read");
  const Item list = expression(s);
  if (!take(s, ":")) return fail("a fold cannot be read");
  s.variables.push_back({name, std::move(start)});
  const std::size_t state = s.variables.size() - 1;
  std::vector<Item> all;
  each(s, index, list.items, [&](Item item) {
    if (keeps_all) all.push_back(item);
    s.variables[state].value = std::move(item);
  });
  Item result = keeps_all ? Item::list(std::move(all)) : std::move(s.variables[state].value);
  s.variables.pop_back();
  if (!take(s, ")")) return fail("a fold is not closed");
  return result;
}

}  // namespace davit
