// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <utility>

#include "davit/core/real_from_chars.hpp"
#include "davit/lowering/detail/rule_reader.hpp"

namespace davit::detail {

[[nodiscard]] constexpr bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

void RuleReader::skip() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
}
bool RuleReader::take(std::string_view token) {
  skip();
  if (!text_.substr(at_).starts_with(token)) return false;
  at_ += token.size();
  return true;
}
std::string_view RuleReader::identifier() {
  skip();
  const std::size_t first = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  if (at_ == first) (void)r_.fail("a rule lacks a name");
  return text_.substr(first, at_ - first);
}

Item RuleReader::body() {
  while (r_.emit.fault == nullptr) {
    skip();
    const std::size_t first = at_;
    if (at_ < text_.size() && text_[at_] >= 'a' && text_[at_] <= 'z') {
      const std::string_view name = identifier();
      skip();
      if (text_.substr(at_).starts_with('=') && !text_.substr(at_).starts_with("==")) {
        ++at_;
        Item value = expression();
        if (!take(";")) return r_.fail("a rule ends without a result");
        variables_.push_back({name, std::move(value)});
        continue;
      }
    }
    at_ = first;
    Item result = expression();
    skip();
    if (at_ != text_.size() && r_.emit.fault == nullptr) return r_.fail("a rule has text after its result");
    return result;
  }
  return {};
}

void RuleReader::pass_by(int level) {
  int brackets = 0, conditions = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    const std::string_view rest = text_.substr(at_);
    if (c == '\'') at_ = std::min(text_.find('\'', at_ + 1), text_.size() - 1);
    if (c == '(' || c == '[') ++brackets;
    if ((c == ')' || c == ']') && brackets-- == 0) return;
    if (brackets != 0) continue;
    if (c == ',' || c == ';' || (c == ':' && conditions-- == 0)) return;
    if (level >= 0 && (c == '?' || rest.starts_with("||") || (level > 0 && rest.starts_with("&&")))) return;
    if (c == '?') ++conditions;
  }
}

Item RuleReader::expression() {
  Item condition = operation(0);
  if (r_.emit.fault != nullptr || !take("?")) return condition;
  const bool yes = r_.truth(condition);
  Item chosen;
  if (yes)
    chosen = expression();
  else
    pass_by(-1);
  if (!take(":")) return r_.fail("a condition without an alternative");
  if (yes)
    pass_by(-1);
  else
    chosen = expression();
  return chosen;
}

Item RuleReader::operation(int level) {
  static constexpr std::string_view tokens[][6] = {
      {"||"}, {"&&"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "//", "/", "%"}};
  if (level == 5) return unary();
  Item left = operation(level + 1);
  while (r_.emit.fault == nullptr) {
    skip();
    if (at_ >= text_.size() || std::string_view("|&=!<>+-*/%").find(text_[at_]) == std::string_view::npos) break;
    std::string_view found;
    for (const std::string_view token : tokens[level])
      if (found.empty() && !token.empty() && take(token)) found = token;
    if (found.empty()) break;
    if (level < 2) {
      const bool decided = r_.truth(left) == (level == 0);
      if (decided) pass_by(level);
      left = Item::boolean(decided ? level == 0 : r_.truth(operation(level + 1)));
      continue;
    }
    Item right = operation(level + 1);
    if (r_.emit.fault == nullptr) left = r_.binary(found, left, right);
  }
  return left;
}

Item RuleReader::unary() {
  Item out;
  if (take("-")) {
    out = unary();
    out = r_.is_tensor(out)              ? r_.call("neg", {{"", out}})
          : out.is(ArgumentKind::float_) ? Item::of(GraphBuilder::real(-r_.number(out)))
                                         : r_.binary("*", Item::integer(-1), out);
  } else if (take("!")) {
    out = Item::boolean(!r_.truth(unary()));
  } else {
    out = primary();
    while (take("[")) {
      const bool from_start = text_.substr(at_).starts_with(':');
      const Item first = from_start ? Item::integer(0) : expression();
      const bool slice = take(":");
      skip();
      const auto count = static_cast<std::int64_t>(out.items.size());
      const Item last = slice && !text_.substr(at_).starts_with(']') ? expression() : Item::integer(count);
      if (!take("]")) return r_.fail("an index is not closed");
      std::int64_t a = r_.integer(first), b = r_.integer(last);
      if (a < 0) a += count;
      if (b < 0) b += count;
      if (!out.is_list() || a < 0 || (!slice && a >= count)) return r_.fail("an index out of range");
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

Item RuleReader::primary() {
  skip();
  const std::string_view rest = text_.substr(at_);
  if (rest.empty()) return r_.fail("a rule ends early");
  if (rest[0] == '[') return bracket();
  if (take("(")) {
    Item inner = expression();
    if (!take(")")) return r_.fail("a parenthesis is not closed");
    return inner;
  }
  if (rest[0] == '\'' || rest[0] == '-' || (rest[0] >= '0' && rest[0] <= '9')) return literal();
  const std::string_view name = identifier();
  if (r_.emit.fault != nullptr) return {};
  if (take("(")) {
    if (name == "fold" || name == "scan") return fold(name == "scan");
    std::vector<NamedItem> arguments = arguments_of();
    return r_.emit.fault == nullptr ? r_.call(name, std::move(arguments)) : Item{};
  }
  for (std::size_t i = variables_.size(); i-- > 0;)
    if (variables_[i].name == name) return variables_[i].value;
  if (name == "none") return {};
  if (name == "true" || name == "false") return Item::boolean(name == "true");
  if (name == "contiguous_format")
    return Item::of(
        {.payload = static_cast<std::int64_t>(MemoryFormat::contiguous), .kind = ArgumentKind::memory_format});
  if (name == "inf") return Item::of(GraphBuilder::real(std::numeric_limits<double>::infinity()));
  if (name == "nan") return Item::of(GraphBuilder::real(std::numeric_limits<double>::quiet_NaN()));
  if (name == "out" && !r_.outputs.empty()) {
    Item sizes = Item::list({});
    for (const Dim& d : r_.outputs[0].sizes) sizes.items.push_back(r_.emit.item(d));
    return sizes;
  }
  if (name == "outtype" && !r_.outputs.empty()) return Item::of(GraphBuilder::scalar_type(r_.outputs[0].dtype));
  if (const ScalarType type = scalar_type_named(name); type != ScalarType::undefined)
    return Item::of(GraphBuilder::scalar_type(type));
  return r_.fail("a rule uses an unknown name");
}

std::vector<NamedItem> RuleReader::arguments_of() {
  std::vector<NamedItem> arguments;
  while (!take(")")) {
    skip();
    const std::size_t before = at_;
    std::string_view keyword;
    if (at_ < text_.size() && is_word(text_[at_])) {
      keyword = identifier();
      if (!take("=") || text_.substr(at_).starts_with('=')) {
        keyword = {};
        at_ = before;
      }
    }
    arguments.push_back({keyword, expression()});
    (void)take(",");
    if (r_.emit.fault != nullptr || at_ >= text_.size()) {
      (void)r_.fail("a call is not closed");
      return {};
    }
  }
  return arguments;
}

Item RuleReader::literal() {
  const std::string_view rest = text_.substr(at_);
  if (rest[0] == '\'') {
    const std::size_t end = rest.find('\'', 1);
    if (end == std::string_view::npos) return r_.fail("a string is not closed");
    at_ += end + 1;
    return {.argument = {.kind = ArgumentKind::string}, .text = rest.substr(1, end - 1)};
  }
  std::int64_t whole = 0;
  double real = 0;
  const char* const last = rest.data() + rest.size();
  const auto as_whole = std::from_chars(rest.data(), last, whole);
  const auto as_real = real_from_chars(rest.data(), last, real);
  at_ += static_cast<std::size_t>(as_real.ptr - rest.data());
  return as_real.ptr == as_whole.ptr ? Item::integer(whole) : Item::of(GraphBuilder::real(real));
}

template <class Each>
void RuleReader::each(std::string_view name, const std::vector<Item>& items, Each&& each) {
  if (items.empty()) return pass_by(-1);
  const std::size_t start = at_;
  variables_.push_back({name, {}});
  for (std::size_t i = 0; i < items.size() && r_.emit.fault == nullptr; ++i) {
    at_ = start;
    variables_.back().value = items[i];
    Item value = expression();
    each(std::move(value));
  }
  variables_.pop_back();
}

Item RuleReader::bracket() {
  ++at_;
  skip();
  const std::size_t before = at_;
  std::vector<Item> items;
  if (at_ < text_.size() && is_word(text_[at_])) {
    const std::string_view name = identifier();
    if (take("in ")) {
      const Item list = expression();
      if (!take(":")) return r_.fail("a list cannot be read");
      each(name, list.items, [&](Item item) { items.push_back(std::move(item)); });
      if (!take("]")) return r_.fail("a list is not closed");
      return Item::list(std::move(items));
    }
    at_ = before;
  }
  while (!take("]")) {
    items.push_back(expression());
    (void)take(",");
    if (r_.emit.fault != nullptr || at_ >= text_.size()) return r_.fail("a list is not closed");
  }
  return Item::list(std::move(items));
}

/// `fold(a: start; i in list: x)` or `scan(...)`
Item RuleReader::fold(bool keeps_all) {
  const std::string_view name = identifier();
  if (!take(":")) return r_.fail("a fold cannot be read");
  Item start = expression();
  const bool separated = take(";");
  const std::string_view index = identifier();
  if (!separated || !take("in ")) return r_.fail("a fold cannot be read");
  const Item list = expression();
  if (!take(":")) return r_.fail("a fold cannot be read");
  variables_.push_back({name, std::move(start)});
  const std::size_t state = variables_.size() - 1;
  std::vector<Item> all;
  each(index, list.items, [&](Item item) {
    if (keeps_all) all.push_back(item);
    variables_[state].value = std::move(item);
  });
  Item result = keeps_all ? Item::list(std::move(all)) : std::move(variables_[state].value);
  variables_.pop_back();
  if (!take(")")) return r_.fail("a fold is not closed");
  return result;
}

}  // namespace davit::detail
