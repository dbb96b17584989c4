// SPDX-License-Identifier: MIT
#pragma once

#include <boost/hana/string.hpp>
#include <cstddef>
#include <utility>

#include "davit/core/overload_rows.hpp"

namespace davit {

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
