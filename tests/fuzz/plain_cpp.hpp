// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace fuzz {

/// True if the text has only include and pragma directives, one-line comments, literals that end on their line, and
/// code with as many closing as opening brackets: the properties that a hostile name could break.
inline bool is_plain_cpp(std::string_view text) {
  int depth = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) return false;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    for (const char c : line)
      if (c < ' ' || c > '~') return false;
    if (line.ends_with('\\')) return false;
    if (line.starts_with("asm(R\"(")) {  // the model's name was checked before
      const std::size_t close = text.find(")\");\n");
      if (close == text.npos) return false;
      text.remove_prefix(close + 5);
      continue;
    }
    if (line.starts_with('#') && !line.starts_with("#include <") && !line.starts_with("#include \"davit/") &&
        !line.starts_with("#pragma "))
      return false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line.substr(i).starts_with("//")) break;
      if (line.substr(i).starts_with("/*")) return false;
      if (line[i] == '"') {
        for (++i; i < line.size() && line[i] != '"'; ++i) i += line[i] == '\\' ? 1 : 0;
        if (i >= line.size()) return false;
      }
      depth += line[i] == '{' || line[i] == '(' ? 1 : line[i] == '}' || line[i] == ')' ? -1 : 0;
      if (depth < 0) return false;
    }
  }
  return depth == 0;
}

}  // namespace fuzz
