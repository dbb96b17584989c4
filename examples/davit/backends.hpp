// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "davit/backends/portable.hpp"
#include "davit/core/error.hpp"

namespace tool {

/// The backends this program is compiled with, in the order of preference.
using Backends = std::tuple<davit::portable>;

/// Calls f.template operator()<B>() with the backend that a `--backends` list names.
/// Errors: not_found for a name that is not in Backends; a list of several needs partitioned lowering.
template <class F>
[[nodiscard]] auto with_backend(std::string_view list, F&& f) -> decltype(f.template operator()<davit::portable>()) {
  using R = decltype(f.template operator()<davit::portable>());
  R result = std::unexpected(davit::Error{});
  davit::Name known;
  const bool found = [&]<class... B>(std::tuple<B...>*) {
    ((known = davit::concat(known, known.empty() ? "" : ", ", B::name)), ...);
    return ((list == B::name ? (result = f.template operator()<B>(), true) : false) || ...);
  }(static_cast<Backends*>(nullptr));
  if (found) return result;
  return std::unexpected(davit::Error{.code = davit::ErrorCode::not_found,
                                      .stage = davit::Stage::partition,
                                      .what = davit::concat("there is no backend '", list, "'"),
                                      .fix = davit::concat("this program was compiled with: ", known)});
}

}  // namespace tool
