// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace tool {

/// A page that shows data: it carries the JSON in an element of its own, which only a "<" could end.
[[nodiscard]] inline std::string page_of(std::string_view before, std::string_view json, std::string_view after) {
  std::string page(before);
  for (const char c : json) c == '<' ? page += "\\u003c" : page += c;
  return page += after;
}

}  // namespace tool
