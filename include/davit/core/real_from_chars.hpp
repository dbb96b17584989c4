// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <type_traits>

#include "davit/core/config.hpp"

namespace davit {

/// std::from_chars of a double or a float, which libc++ has from version 20 on: before that by the C library's strtod.
/// Both read the longest prefix that is a number, and give the value nearest to it. Errors: as std::from_chars; `value`
/// is then left alone. O(length).
[[nodiscard]] std::from_chars_result real_from_chars(const char* first, const char* last, double& value);
[[nodiscard]] std::from_chars_result real_from_chars(const char* first, const char* last, float& value);
/// The same of any number.
template <class T>
[[nodiscard]] std::from_chars_result number_from_chars(const char* first, const char* last, T& value) {
  if constexpr (std::is_floating_point_v<T>)
    return real_from_chars(first, last, value);
  else
    return std::from_chars(first, last, value);
}

namespace detail {
/// The same by strtod, whatever the locale.
template <class T>
[[nodiscard]] std::from_chars_result real_by_strtod(const char* first, const char* last, T& value);
extern template std::from_chars_result real_by_strtod(const char* first, const char* last, double& value);
extern template std::from_chars_result real_by_strtod(const char* first, const char* last, float& value);
}  // namespace detail

}  // namespace davit
