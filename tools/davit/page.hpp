// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace tool {

/// Makes a page with data: JSON in an element of its own, with "<" escaped so that it cannot end the element.
[[nodiscard]] inline std::string page_of(std::string_view before, std::string_view json, std::string_view after) {
  std::string page(before);
  for (const char c : json) c == '<' ? page += "\\u003c" : page += c;
  return page += after;
}

}  // namespace tool
