// SPDX-License-Identifier: MIT
#pragma once

#include <boost/hana/string.hpp>
#include <cstddef>
#include <utility>

namespace davit {

namespace detail {
template <std::size_t N>
struct FixedString {
  char text[N]{};
  consteval FixedString(const char (&literal)[N]) noexcept {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
};
}  // namespace detail

inline namespace literals {
/// A compile-time string as a Hana string: `"forward"_s`.
template <detail::FixedString S>
[[nodiscard]] consteval auto operator""_s() noexcept {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return boost::hana::string<S.text[I]...>{};
  }(std::make_index_sequence<sizeof(S.text) - 1>{});
}
}  // namespace literals

}  // namespace davit
