// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "davit/core/real_from_chars.hpp"

namespace davit {

std::from_chars_result real_from_chars(const char* first, const char* last, double& value) {
#if defined(__cpp_lib_to_chars)
  return std::from_chars(first, last, value);
#else
  return detail::real_by_strtod(first, last, value);
#endif
}
std::from_chars_result real_from_chars(const char* first, const char* last, float& value) {
#if defined(__cpp_lib_to_chars)
  return std::from_chars(first, last, value);
#else
  return detail::real_by_strtod(first, last, value);
#endif
}

namespace detail {

namespace {

/// The letters of `word`, which is written in small ones, at the start of `text`, in either case.
[[nodiscard]] bool starts_with_letters(std::string_view text, std::string_view word) noexcept {
  return text.size() >= word.size() &&
         std::ranges::equal(text.substr(0, word.size()), word, {}, [](char c) { return static_cast<char>(c | 0x20); });
}
[[nodiscard]] std::size_t count_digits(std::string_view text, std::size_t from) noexcept {
  std::size_t at = std::min(from, text.size());
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at - from;
}

}  // namespace

template <class T>
std::from_chars_result real_by_strtod(const char* first, const char* last, T& value) {
  const std::string_view text(first, static_cast<std::size_t>(last - first));
  const bool negative = text.starts_with('-');
  const std::size_t begin = negative ? 1 : 0;
  const std::string_view digits = text.substr(begin);
  const auto is = [&](std::size_t length, T what) {
    value = negative ? -what : what;
    return std::from_chars_result{first + begin + length, std::errc()};
  };
  if (starts_with_letters(digits, "infinity")) return is(8, std::numeric_limits<T>::infinity());
  if (starts_with_letters(digits, "inf")) return is(3, std::numeric_limits<T>::infinity());
  if (starts_with_letters(digits, "nan")) return is(3, std::numeric_limits<T>::quiet_NaN());

  const std::size_t whole = count_digits(digits, 0);
  std::size_t end = whole, fraction = 0;
  if (end < digits.size() && digits[end] == '.') {
    fraction = count_digits(digits, end + 1);
    if (whole + fraction > 0) end += 1 + fraction;
  }
  if (whole + fraction == 0) return {first, std::errc::invalid_argument};
  const std::size_t mantissa = end;
  if (end < digits.size() && (digits[end] == 'e' || digits[end] == 'E')) {
    const std::size_t sign = end + 1 < digits.size() && (digits[end + 1] == '-' || digits[end + 1] == '+') ? 1 : 0;
    if (const std::size_t exponent = count_digits(digits, end + 1 + sign); exponent > 0) end += 1 + sign + exponent;
  }
  // strtod reads the point that the locale writes
  std::string number(digits.substr(0, end));
  if (const std::size_t point = number.find('.'); point != number.npos)
    number.replace(point, 1, std::localeconv()->decimal_point);
  T magnitude;
  if constexpr (std::is_same_v<T, float>)
    magnitude = std::strtof(number.c_str(), nullptr);
  else
    magnitude = std::strtod(number.c_str(), nullptr);
  const bool is_zero = digits.substr(0, mantissa).find_first_of("123456789") == digits.npos;
  if (std::isinf(magnitude) || (magnitude == 0 && !is_zero))
    return {first + begin + end, std::errc::result_out_of_range};
  return is(end, magnitude);
}
template std::from_chars_result real_by_strtod(const char* first, const char* last, double& value);
template std::from_chars_result real_by_strtod(const char* first, const char* last, float& value);

}  // namespace detail

}  // namespace davit
