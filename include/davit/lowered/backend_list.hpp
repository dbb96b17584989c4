// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "davit/backend/backend_table.hpp"
#include "davit/backend/check_backend.hpp"

namespace davit {

/// The backends that a program may be lowered onto, in order of preference. Their types and names must differ.
template <class... Bs>
struct BackendList {
  static constexpr std::size_t size = sizeof...(Bs);
  static_assert(size > 0, "davit: a BackendList needs at least one backend");
  static_assert((check_runtime_backend<Bs>() && ...));

  [[nodiscard]] static constexpr std::string_view name(std::size_t index) noexcept {
    constexpr std::string_view names[] = {Bs::name...};
    return index < size ? names[index] : std::string_view("?");
  }
  /// Returns the index of the backend called `name`, or `size` if there is none.
  [[nodiscard]] static constexpr std::size_t find(std::string_view name) noexcept {
    constexpr std::string_view names[] = {Bs::name...};
    std::size_t i = 0;
    while (i < size && names[i] != name) ++i;
    return i;
  }
  /// Returns all names, separated by ", ".
  [[nodiscard]] static constexpr Name names() {
    Name all;
    ((all = concat(all, all.empty() ? "" : ", ", Bs::name)), ...);
    return all;
  }
  /// Returns type-erased tables of the backends, for code that does not depend on their types.
  [[nodiscard]] static constexpr BackendTables tables() noexcept { return BackendTables(rows); }
  template <std::size_t I>
  using at = std::tuple_element_t<I, std::tuple<Bs...>>;
  template <class B>
  static constexpr bool contains = (std::same_as<B, Bs> || ...);
  template <class B>
  static constexpr std::size_t index_of = [] {
    std::size_t i = 0;
    (void)((std::same_as<B, Bs> || (++i, false)) || ...);
    return i;
  }();

  /// Calls `f.template operator()<B, index>()` with the backend at `index`. Does nothing if the index is out of range.
  template <class F>
  static constexpr void visit(std::size_t index, F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)((I == index ? (f.template operator()<Bs, I>(), true) : false) || ...);
    }(std::index_sequence_for<Bs...>{});
  }
  /// Calls `f.template operator()<B, index>()` with every backend, in order.
  template <class F>
  static constexpr void for_each(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f.template operator()<Bs, I>(), ...);
    }(std::index_sequence_for<Bs...>{});
  }

 private:
  static constexpr const BackendTable* rows[] = {&backend_table<Bs>...};
  static constexpr bool names_differ = [] {
    if constexpr ((RuntimeBackend<Bs> && ...)) {
      constexpr std::string_view names[] = {Bs::name...};
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t k = 0; k < i; ++k)
          if (names[i] == names[k]) return false;
    }
    return true;
  }();
  static_assert(names_differ,
                "davit: two backends of a BackendList have the same name; saved programs could not tell them apart");
};

/// A delegation target: backend B and the spec that compiles the partition.
template <class B>
struct DelegateTo {
  using Backend = B;
  typename B::CompileSpec spec{};
};

namespace detail {
template <class List>
struct DelegationSpecOf;
template <class... Bs>
struct DelegationSpecOf<BackendList<Bs...>> {
  using type = std::variant<DelegateTo<Bs>...>;
};
}  // namespace detail

/// A delegation target on any backend of the list; the variant's index is the backend's index.
/// Source: executorch.exir.backend.partitioner.DelegationSpec.
template <class List>
using DelegationSpec = typename detail::DelegationSpecOf<List>::type;

/// Makes the DelegationSpec for backend B. Does not compile if B is not in the list.
template <class List, class B>
[[nodiscard]] constexpr DelegationSpec<List> delegate_to(typename B::CompileSpec spec = {}) {
  static_assert(
      List::template contains<B>,
      "davit: delegate_to<List, B> names a backend that is not in the partitioner's list; add B to its BackendList");
  if constexpr (List::template contains<B>) return DelegateTo<B>{std::move(spec)};
}

}  // namespace davit
