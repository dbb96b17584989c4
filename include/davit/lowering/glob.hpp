// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace davit {

/// True if `text` matches `pattern`: `*` stands for any characters, `?` for one, other characters for themselves.
/// O(size of pattern * size of text), no recursion. Source: Python's fnmatch, without character sets.
[[nodiscard]] constexpr bool matches_glob(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // the last `*`, and the position where the rest of the pattern is tried
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace davit
