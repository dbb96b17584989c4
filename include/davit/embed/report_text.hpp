// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace davit {

/// A text that a compiler's message shows: as a template argument, or as the message of a static_assert (clang, g++
/// 14).
template <std::size_t N>
struct ReportText {
  char text[N]{};
  [[nodiscard]] constexpr std::size_t size() const noexcept { return N - 1; }
  [[nodiscard]] constexpr const char* data() const noexcept { return text; }
};

namespace detail {

/// Clang shows only about 32 characters of a template argument.
#if defined(__clang__)
inline constexpr std::size_t report_part = 31;
#else
inline constexpr std::size_t report_part = 100000;
#endif

/// The end of the part that begins at `first`: behind a blank if one is near.
constexpr std::size_t part_end(std::string_view text, std::size_t first) noexcept {
  if (text.size() - first <= report_part) return text.size();
  for (std::size_t end = first + report_part; end > first + report_part / 2; --end)
    if (text[end - 1] == ' ') return end;
  return first + report_part;
}

template <auto text, std::size_t First, std::size_t Last>
consteval auto text_part() {
  ReportText<Last - First + 1> part;
  for (std::size_t i = First; i < Last; ++i) part.text[i - First] = text.text[i];
  return part;
}

/// `Report` of the text, in parts that the compiler shows whole; without arguments for an empty text.
template <template <auto...> class Report, auto text, std::size_t First = 0, auto... Parts>
consteval auto in_parts() {
  if constexpr (First == text.size()) {
    return Report<Parts...>{};
  } else {
    constexpr std::size_t last = part_end({text.data(), text.size()}, First);
    return in_parts<Report, text, last, Parts..., text_part<text, First, last>()>();
  }
}

}  // namespace detail

}  // namespace davit
