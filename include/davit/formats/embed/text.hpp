// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "davit/core/scalar_type.hpp"

/// C++ text of `davit embed`.
namespace davit::formats::embed_text {

[[nodiscard]] constexpr bool is_alphanumeric(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Makes a C++ identifier of a model's name: other characters become '_'; keywords, and the names of embedded programs'
/// members, get a trailing '_'.
[[nodiscard]] inline std::string identifier(std::string_view name) {
  static constexpr std::array keywords = std::to_array<std::string_view>(
      {"alignas",       "and",         "asm",          "auto",         "bool",     "break",     "case",
       "catch",         "char",        "class",        "concept",      "const",    "constexpr", "continue",
       "decltype",      "default",     "delete",       "do",           "double",   "else",      "enum",
       "explicit",      "export",      "extern",       "false",        "float",    "for",       "friend",
       "goto",          "if",          "inline",       "int",          "long",     "mutable",   "namespace",
       "new",           "noexcept",    "not",          "nullptr",      "operator", "or",        "private",
       "protected",     "public",      "register",     "requires",     "return",   "short",     "signed",
       "sizeof",        "static",      "struct",       "switch",       "template", "this",      "throw",
       "true",          "try",         "typedef",      "typename",     "union",    "unsigned",  "using",
       "virtual",       "void",        "volatile",     "while",        "xor",      "name",      "inputs",
       "outputs",       "kind",        "dtype",        "tables",       "weights",  "alignof",   "and_eq",
       "bitand",        "bitor",       "char8_t",      "compl",        "co_await", "co_return", "co_yield",
       "consteval",     "constinit",   "const_cast",   "dynamic_cast", "not_eq",   "or_eq",     "reinterpret_cast",
       "static_assert", "static_cast", "thread_local", "typeid",       "xor_eq",   "std",       "davit",
       "linux",         "unix",        "i386",         "sizes",        "symbols",  "assert",    "NULL",
       "EOF",           "FILE",        "tm",           "timespec"});
  static constexpr std::array endings =
      std::to_array<std::string_view>({"_t", "_MIN", "_MAX"});  // from standard headers
  std::string out;
  for (const char c : name) {
    if (is_alphanumeric(c))
      out += c;
    else if (out.empty() || out.back() != '_')
      out += '_';  // not two: such names are reserved
  }
  if (out.empty() || (out.front() >= '0' && out.front() <= '9')) out.insert(0, "m_");
  if (out.front() == '_') out.insert(0, "m");
  if (std::ranges::find(keywords, std::string_view(out)) != keywords.end() ||
      std::ranges::any_of(endings, [&](std::string_view ending) { return out.ends_with(ending); }))
    out += '_';
  return out;
}

template <class T>
[[nodiscard]] T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void append_float(std::string& out, T value, std::string_view suffix) {
  const char* type = sizeof(T) == 4 ? "float" : "double";
  if (std::isnan(value) || std::isinf(value)) {
    if (value < 0) out += '-';
    out += std::string("std::numeric_limits<") + type + (std::isnan(value) ? ">::quiet_NaN()" : ">::infinity()");
    return;
  }
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
  out += suffix;
}

/// Appends element `i` of contiguous elements as a C++ expression.
inline void append_element(std::string& out, ScalarType type, const std::byte* elements, std::size_t i) {
  const std::byte* at = elements + i * size_of(type);
  switch (type) {
    case ScalarType::float32: return append_float(out, load<float>(at), "f");
    case ScalarType::float64: return append_float(out, load<double>(at), "");
    case ScalarType::int8: out += std::to_string(load<std::int8_t>(at)); return;
    case ScalarType::uint8: out += std::to_string(load<std::uint8_t>(at)); return;
    case ScalarType::int16: out += std::to_string(load<std::int16_t>(at)); return;
    case ScalarType::int32: {
      const auto value = load<std::int32_t>(at);
      out += value == INT32_MIN ? "INT32_MIN" : std::to_string(value);
      return;
    }
    case ScalarType::int64: {
      const auto value = load<std::int64_t>(at);
      out += value == INT64_MIN ? "INT64_MIN" : std::to_string(value);
      return;
    }
    default: out += load<std::uint8_t>(at) != 0 ? "true" : "false"; return;
  }
}

/// Returns the C++ type of elements in a header's arrays; empty for types without arrays.
[[nodiscard]] constexpr std::string_view element_type(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::float32: return "float";
    case ScalarType::float64: return "double";
    case ScalarType::int8: return "std::int8_t";
    case ScalarType::uint8: return "std::uint8_t";
    case ScalarType::int16: return "std::int16_t";
    case ScalarType::int32: return "std::int32_t";
    case ScalarType::int64: return "std::int64_t";
    case ScalarType::bool_: return "bool";
    default: return "";
  }
}

/// Spells a ScalarType: `ScalarType::float32`.
[[nodiscard]] inline std::string scalar_type(ScalarType type) {
  return "davit::ScalarType::" + std::string(name_of(type)) + (type == ScalarType::bool_ ? "_" : "");
}

/// Appends "a, b, c" with line breaks, every item by `append(i)`.
template <class Append>
void append_list(std::string& out, std::size_t count, std::string_view indent, Append&& append) {
  std::size_t line = out.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (out.size() - line > 110 || i == 0) {
      out += "\n";
      out += indent;
      line = out.size();
    } else {
      out += " ";
    }
    append(i);
    out += ",";
  }
}

/// Appends `inline constexpr std::array<T, N> NAME{...};` with contiguous elements.
inline void append_array(std::string& out, std::string_view name, ScalarType type, std::span<const std::byte> bytes) {
  const std::size_t count = bytes.size() / size_of(type);
  out += "alignas(16) inline constexpr std::array<" + std::string(element_type(type)) + ", " + std::to_string(count) +
         "> " + std::string(name) + "{";
  append_list(out, count, "    ", [&](std::size_t i) { append_element(out, type, bytes.data(), i); });
  out += "};\n";
}

/// Appends bytes as string literals, one per line: the form that compilers read fastest.
inline void append_bytes(std::string& out, std::span<const std::byte> bytes, std::string_view indent) {
  constexpr std::size_t per_line = 32;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % per_line == 0) out += (i == 0 ? "\n" : "\"\n") + std::string(indent) + "\"";
    std::array<char, 8> octal{};
    std::snprintf(octal.data(), octal.size(), "\\%o", std::to_integer<unsigned>(bytes[i]));
    out += octal.data();
  }
  if (!bytes.empty()) out += "\"";
}

/// A text of the model for a one-line comment: it cannot end the comment or continue it on the next line, and is plain
/// ASCII.
[[nodiscard]] inline std::string comment(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += '/';
    else
      out += c >= ' ' && c <= '~' ? c : '?';
  }
  return out;
}

/// Escapes the contents of a string literal, in ASCII.
[[nodiscard]] inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '?') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c < ' ' || c > '~') {
      std::array<char, 8> octal{};
      std::snprintf(octal.data(), octal.size(), "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += octal.data();
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace davit::formats::embed_text
