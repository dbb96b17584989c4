// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

namespace davit {

/// A text that mostly is a literal, whose length is then counted once where it stands in the source. A string_view
/// walks the literal wherever constant evaluation passes, which costs compile time.
struct Literal {
  const char* text;
  std::size_t size;

  template <std::size_t N>
  consteval Literal(const char (&literal)[N]) noexcept : text(literal), size(N - 1) {}
  template <class P>
    requires std::same_as<P, const char*>
  constexpr Literal(const P& pointer) noexcept : Literal(std::string_view(pointer)) {}
  constexpr Literal(std::string_view view) noexcept : text(view.data()), size(view.size()) {}
  constexpr operator std::string_view() const noexcept { return {text, size}; }
};

/// True if the `size` characters at `a` and at `b` are the same. O(size). In constant evaluation cheaper than comparing
/// string_views; a builtin memcmp would be a single step there, but g++ makes a string of all the text for it.
[[nodiscard]] constexpr bool same_text(const char* a, const char* b, std::size_t size) noexcept {
  std::size_t i = size;
  while (i > 0 && a[i - 1] == b[i - 1]) --i;  // operators differ at their ends
  return i == 0;
}

}  // namespace davit
