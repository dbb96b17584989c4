// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace davit::formats::detail
