// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace davit::formats {

namespace detail {

/// The length of the UTF-8 sequence that `text` begins with, or 0 if it begins with none.
/// Source: table 3-7 of the Unicode standard.
[[nodiscard]] constexpr std::size_t utf8_sequence(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first <= 0xDF ? 2 : first >= 0xE0 && first <= 0xEF ? 3 : first >= 0xF0 && first <= 0xF4 ? 4 : 0;
  if (size == 0) return 0;
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < size; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  return size;
}

}  // namespace detail

/// Text as HTML that shows it: markup and quotes are escaped, control characters and bytes that are no UTF-8 become the
/// replacement character. Fit for element content and quoted attributes. O(size).
[[nodiscard]] inline std::string escape_html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = detail::utf8_sequence(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (size == 0 || (first < 32 && first != '\n' && first != '\t') || first == 127) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    switch (first) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace davit::formats
