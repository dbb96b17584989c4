// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <expected>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "davit/backends/portable.hpp"
#include "davit/core/error.hpp"

namespace tool {

/// The backends this program is compiled with, in the order of preference.
using Backends = std::tuple<davit::portable>;

/// The names of all backends, for messages.
template <class... B>
[[nodiscard]] davit::Name known_names(std::tuple<B...>*) {
  davit::Name names;
  ((names = davit::concat(names, names.empty() ? "" : ", ", B::name)), ...);
  return names;
}

/// Calls f.template operator()<B>() with the backend that a `--backends` list names.
///
/// Errors: not_found for a name that is not in Backends; unsupported_argument for more than one name, since the program
/// is lowered onto one backend.
template <class F>
[[nodiscard]] auto with_backend(std::string_view list, F&& f) -> decltype(f.template operator()<davit::portable>()) {
  using R = decltype(f.template operator()<davit::portable>());
  constexpr Backends* all = nullptr;
  const auto fail = [&](davit::ErrorCode code, const davit::Name& what) {
    return std::unexpected(davit::Error{.code = code,
                                        .stage = davit::Stage::partition,
                                        .what = what,
                                        .fix = davit::concat("this program was compiled with: ", known_names(all))});
  };
  std::size_t named = 0;
  for (std::string_view rest = list, name; named == 0 || !rest.empty(); ++named) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    name = rest.substr(0, comma);
    rest = rest.substr(std::min(comma + 1, rest.size()));
    const bool known = [&]<class... B>(std::tuple<B...>*) { return ((name == B::name) || ...); }(all);
    if (!known) return fail(davit::ErrorCode::not_found, davit::concat("there is no backend '", name, "'"));
  }
  if (named > 1) return fail(davit::ErrorCode::unsupported_argument, "a program is lowered onto one backend: name one");
  std::optional<R> result;
  const std::string_view only = list.substr(0, list.find(','));
  [&]<class... B>(std::tuple<B...>*) {
    const auto call = [&]<class One>() {
      if (only == One::name) result.emplace(f.template operator()<One>());
    };
    (call.template operator()<B>(), ...);
  }(all);
  return *std::move(result);
}

}  // namespace tool
