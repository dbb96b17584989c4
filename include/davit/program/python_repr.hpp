// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"

namespace davit::detail {

/// The first character of UTF-8 `text` and its length in bytes; length 0 if it is not valid UTF-8.
struct Utf8Char {
  char32_t value = 0;
  std::size_t length = 0;
};

Utf8Char first_utf8(std::string_view text) noexcept;

/// Appends `text` like Python's repr of a str: single quotes unless only double quotes avoid an escape. Bytes that are
/// not valid UTF-8 become \x escapes.
void append_python_str(std::string& out, std::string_view text);

/// Appends `value` like Python's repr of a float: the shortest digits that read back as `value`.
void append_python_float(std::string& out, double value);

}  // namespace davit::detail
