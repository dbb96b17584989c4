// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"

namespace davit::detail {

/// The character that UTF-8 `text` begins with and its length in bytes; length 0 where it is no UTF-8.
struct Utf8Char {
  char32_t value = 0;
  std::size_t length = 0;
};

Utf8Char first_utf8(std::string_view text) noexcept;

/// Appends `text` as Python's repr of a str writes it: single quotes unless only double quotes avoid an escape.
/// Bytes that are no UTF-8 become \x escapes.
void append_python_str(std::string& out, std::string_view text);

/// Appends `value` as Python's repr of a float writes it: the shortest digits that read back as `value`.
void append_python_float(std::string& out, double value);

}  // namespace davit::detail
