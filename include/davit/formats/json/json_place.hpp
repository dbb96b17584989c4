// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "davit/formats/json/json_document.hpp"

namespace davit::formats::detail {

/// Appends a key of the file to a place, at most 80 bytes and without control characters.
inline void append_key(std::string& text, std::string_view key) {
  text += '.';
  for (const char c : key.substr(0, 80)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (key.size() > 80) text += "...";
}

/// Returns the place of value `index`, for example `json.specs[3].arg`. Shortens long keys and deep nesting. O(values
/// before it).
[[nodiscard]] inline std::string place_of(const JsonDocument& document, std::uint32_t index) {
  constexpr std::size_t longest = 1000;
  std::string text(document.name());
  for (std::uint32_t at = 0; at != index;) {
    if (text.size() > longest) return text + "...";
    const bool is_object = document.node(at).kind == JsonKind::object;
    std::uint32_t child = at + (is_object ? 2 : 1);
    std::size_t number = 0;
    for (; document.after(child) <= index; ++number) child = document.after(child) + (is_object ? 1 : 0);
    if (is_object) {
      append_key(text, document.string(child - 1));
    } else {
      text += '[' + std::to_string(number) + ']';
    }
    at = child;
  }
  return text;
}

/// Returns the noun for a JSON kind in errors.
[[nodiscard]] inline std::string_view noun_of(JsonKind kind) noexcept {
  switch (kind) {
    case JsonKind::null: return "null";
    case JsonKind::false_: return "false";
    case JsonKind::true_: return "true";
    case JsonKind::integer: return "an integer";
    case JsonKind::real: return "a number that is no such integer";
    case JsonKind::string: return "a string";
    case JsonKind::array: return "an array";
    case JsonKind::object: return "an object";
  }
  return "?";
}

}  // namespace davit::formats::detail
