// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <system_error>

#include "davit/program/python_repr.hpp"

namespace davit::detail {

Utf8Char first_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return {};
  char32_t value = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < smallest[length] || surrogate || value > 0x10ffff) return {};
  return {value, length};
}

/// True if Python's repr escapes the character: controls, formats, separators and private use, as of Unicode 14.
/// Unassigned characters count as printable.
bool is_escaped(char32_t c) noexcept {
  struct Block {
    char32_t first, last;
  };
  constexpr Block blocks[] = {
      {0x00, 0x1f},       {0x7f, 0xa0},       {0xad, 0xad},         {0x600, 0x605},     {0x61c, 0x61c},
      {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},       {0x8e2, 0x8e2},     {0x1680, 0x1680},
      {0x180e, 0x180e},   {0x2000, 0x200f},   {0x2028, 0x202f},     {0x205f, 0x2064},   {0x2066, 0x206f},
      {0x3000, 0x3000},   {0xd800, 0xf8ff},   {0xfeff, 0xfeff},     {0xfff9, 0xfffb},   {0x110bd, 0x110bd},
      {0x110cd, 0x110cd}, {0x13430, 0x13438}, {0x1bca0, 0x1bca3},   {0x1d173, 0x1d17a}, {0xe0001, 0xe0001},
      {0xe0020, 0xe007f}, {0xf0000, 0xffffd}, {0x100000, 0x10fffd},
  };
  const Block* const after =
      std::upper_bound(std::begin(blocks), std::end(blocks), c, [](char32_t x, const Block& b) { return x < b.first; });
  return after != std::begin(blocks) && c <= (after - 1)->last;
}

void append_hex(std::string& text, std::uint32_t value, int digits) {
  while (digits-- > 0) text += "0123456789abcdef"[value >> (4 * digits) & 0xf];
}

void append_python_str(std::string& out, std::string_view text) {
  const bool use_double = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = use_double ? '"' : '\'';
  out += quote;
  while (!text.empty()) {
    const Utf8Char c = first_utf8(text);
    const std::size_t length = c.length == 0 ? 1 : c.length;
    if (c.length == 0) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(text[0]), 2);
    } else if (c.value == U'\\' || c.value == static_cast<unsigned char>(quote)) {
      (out += '\\') += text[0];
    } else if (c.value == U'\n') {
      out += "\\n";
    } else if (c.value == U'\r') {
      out += "\\r";
    } else if (c.value == U'\t') {
      out += "\\t";
    } else if (!is_escaped(c.value)) {
      out += text.substr(0, length);
    } else {
      const int digits = c.value < 0x100 ? 2 : c.value < 0x10000 ? 4 : 8;
      (out += '\\') += digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
      append_hex(out, c.value, digits);
    }
    text.remove_prefix(length);
  }
  out += quote;
}

void append_python_float(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
    return;
  }
  char buffer[40];
  const char* const end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  const std::string_view scientific(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = scientific.find('e');
  int exponent = 0;
  const std::size_t digits = e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(buffer + digits, end, exponent);
  if (exponent < -4 || exponent >= 16) {
    out += scientific;
    return;
  }
  char fixed[40];
  const char* const fixed_end = std::to_chars(fixed, fixed + sizeof(fixed), value, std::chars_format::fixed).ptr;
  const std::string_view text(fixed, static_cast<std::size_t>(fixed_end - fixed));
  out += text;
  if (text.find('.') == text.npos) out += ".0";
}

}  // namespace davit::detail
