// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "custom_operators.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/testing/detail/renamed_backend.hpp"
#ifdef DAVIT_WITH_ONEDNN
#include "davit/backends/onednn.hpp"
#endif
#ifdef DAVIT_WITH_XNNPACK
#include "davit/backends/xnnpack.hpp"
#endif
#ifdef DAVIT_USER_BACKENDS
#include DAVIT_USER_BACKENDS
#else
using user_backends = std::tuple<>;
#endif

namespace tool {

using Portable = davit::portable_with<CustomOperators>;

#ifdef DAVIT_WITH_ONEDNN
using OneDnn = std::tuple<davit::onednn>;
#else
using OneDnn = std::tuple<>;
#endif
#ifdef DAVIT_WITH_XNNPACK
using XnnPack = std::tuple<davit::xnnpack>;
#else
using XnnPack = std::tuple<>;
#endif

template <class Tuple>
struct ListOf;
template <class... Bs>
struct ListOf<std::tuple<Bs...>> {
  using type = davit::BackendList<Bs...>;
};

/// True if the list has its own portable: a portable_with<...> with additional operators.
template <class Tuple>
inline constexpr bool has_portable = false;
template <class... Bs>
inline constexpr bool has_portable<std::tuple<Bs...>> = ((std::string_view(Bs::name) == davit::portable::name) || ...);

/// The backends this program is compiled with. First come the backends of the header named by the build option
/// user_backends, which declares `using user_backends = std::tuple<...>`. `portable` takes all remaining nodes. Its
/// second instance serves to test borders between partitions.
using Second = davit::testing::renamed_backend<Portable, "portable_2">;
using Always = std::conditional_t<has_portable<user_backends>, std::tuple<Second>, std::tuple<Portable, Second>>;
using Backends = ListOf<decltype(std::tuple_cat(std::declval<user_backends>(), std::declval<OneDnn>(),
                                                std::declval<XnnPack>(), std::declval<Always>()))>::type;

/// Converts a list of backend names to indices.
[[nodiscard]] inline davit::Result<std::vector<std::uint32_t>> parse_backends(std::string_view list) {
  std::vector<std::uint32_t> order;
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, comma);
    const std::size_t index = Backends::find(name);
    const auto fail = [&](davit::ErrorCode code, davit::Name what) {
      return std::unexpected(davit::Error{.code = code,
                                          .stage = davit::Stage::partition,
                                          .where = "--backends",
                                          .what = std::move(what),
                                          .fix = davit::concat("this program was compiled with: ", Backends::names())});
    };
    if (index == Backends::size)
      return fail(davit::ErrorCode::not_found, davit::concat("there is no backend '", name, "'"));
    if (std::ranges::find(order, index) != order.end())
      return fail(davit::ErrorCode::invalid_argument, davit::concat("backend '", name, "' is named twice"));
    order.push_back(static_cast<std::uint32_t>(index));
    if (comma == list.size()) return order;
    list.remove_prefix(comma + 1);
  }
}

/// Sets the number of threads for programs lowered or loaded from now on, on backends with threads.
inline void set_threads([[maybe_unused]] std::uint32_t threads) {
  Backends::for_each([&]<class B, std::size_t>() {
    if constexpr (requires { B::set_threads(threads); }) B::set_threads(threads);
  });
}

/// Allows programs lowered or loaded from now on to lose NaN and infinities, on backends with that choice.
inline void set_fast_math([[maybe_unused]] bool may) {
  Backends::for_each([&]<class B, std::size_t>() {
    if constexpr (requires { B::set_fast_math(may); }) B::set_fast_math(may);
  });
}

}  // namespace tool
