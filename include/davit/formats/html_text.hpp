// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "davit/program/python_repr.hpp"

namespace davit::formats {

/// Text as HTML that shows it: markup and quotes are escaped, control characters and bytes that are no UTF-8 become the
/// replacement character. Fit for element content and quoted attributes. O(size).
[[nodiscard]] inline std::string escape_html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = davit::detail::first_utf8(text).length;
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
