// SPDX-License-Identifier: MIT
#pragma once

#include <ostream>
#include <string>

#include "davit/core/error.hpp"

namespace davit {

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    const bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F: terminals obey them too
    if ((c >= 0x20 && c != 0x7f && !c1) || c == '\n' || c == '\t') {
      out += text[i];
      continue;
    }
    const unsigned code = c1 ? next : c;
    (out += "\\x") += digits[code >> 4];
    out += digits[code & 15];
    i += c1 ? 1 : 0;
  }
  return out;
}
std::string to_string(const Error& error) { return printable(to_name(error).view()); }
std::ostream& operator<<(std::ostream& out, const Error& error) { return out << to_string(error); }

}  // namespace davit
