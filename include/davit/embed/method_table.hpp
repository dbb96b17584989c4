// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/embed/sized_method.hpp"
#include "davit/embed/static_method.hpp"
#include "davit/embed/static_program.hpp"
#include "davit/embed/static_state.hpp"

namespace davit::detail {

/// The functions of a program with one method.
template <class Module, class P>
struct ForwardCall {
  /// Runs the program: static_module::call.
  template <class... Arguments>
  constexpr Status forward(Arguments&&... arguments) noexcept {
    return static_cast<Module&>(*this).template call<P>(arguments...);
  }
  /// Begins a run on a device: static_module::start.
  template <class... Arguments>
  constexpr Status forward_start(Arguments&&... arguments) noexcept {
    return static_cast<Module&>(*this).template start<P>(std::forward<Arguments>(arguments)...);
  }
};
template <class Module>
struct NoCalls {};

/// The methods of a program, and the base of modules with a function for each.
template <class P>
struct MethodsOf {
  using methods = static_methods<P>;
  template <class Module>
  using calls = ForwardCall<Module, P>;
};
template <HasStaticMethods P>
struct MethodsOf<P> {
  using methods = typename P::methods;
  template <class Module>
  using calls = NoCalls<Module>;
};
template <HasStaticMethods P>
  requires requires { typename P::template calls<NoCalls<P>>; }
struct MethodsOf<P> {
  using methods = typename P::methods;
  template <class Module>
  using calls = typename P::template calls<Module>;
};

/// The joint requirements of a module's methods.
template <class Methods, class Settings>
struct MethodTable;
template <class... Ms, class Settings>
struct MethodTable<static_methods<Ms...>, Settings> {
  static_assert(sizeof...(Ms) > 0, "davit: a program of several methods needs at least one: static_methods<...>");
  static constexpr std::size_t count = sizeof...(Ms);
  using State = SharedStaticState<static_method<Ms, Settings>...>;
  using First = std::tuple_element_t<0, std::tuple<Ms...>>;

  template <class M>
  static constexpr bool has = (std::is_same_v<M, Ms> || ...);
  static constexpr std::size_t arena_bytes = std::max({static_method<Ms, Settings>::arena_bytes...});
  static constexpr std::size_t table_bytes = (static_method<Ms, Settings>::table_bytes + ...);
  static constexpr std::size_t step_count = (static_method<Ms, Settings>::step_count + ...);
  /// Bytes of constants that methods read; the program's count once. O(constants^2) for several methods.
  static constexpr std::size_t weight_bytes = [] {
    if constexpr (count == 1) return static_method<First, Settings>::weight_bytes;
    DistinctConstants seen;
    std::size_t bytes = table_bytes;
    const auto add = [&](const ConstantData& data) { bytes += seen.add(data); };
    (static_method<Ms, Settings>::for_each_constant(add), ...);
    return bytes;
  }();

  /// True if a device runs a step of some method; and if one works behind the CPU's cache.
  static constexpr bool has_device = (static_method<Ms, Settings>::has_device || ...);
  static constexpr bool maintains_cache = (static_method<Ms, Settings>::maintains_cache || ...);
  /// The most tensors of a method.
  static constexpr std::size_t max_arguments = std::max({static_method<Ms, Settings>::argument_count...});
  template <class M>
  static consteval std::uint32_t index_of() {
    std::uint32_t index = 0;
    bool found = false;
    ((found = found || std::is_same_v<M, Ms>, index += found ? 0 : 1), ...);
    return index;
  }
  /// Calls `visit.operator()<M>()` for the method of that index.
  template <class Visit>
  static constexpr void at(std::uint32_t index, Visit&& visit) {
    (void)((index == index_of<Ms>() && (visit.template operator()<Ms>(), true)) || ...);
  }

  /// The number of kernel calls of the methods before M, each made once.
  template <class M>
  static consteval std::uint32_t calls_before() {
    std::size_t calls = 0;
    bool found = false;
    ((found = found || std::is_same_v<M, Ms>, calls += found ? 0 : static_method<Ms, Settings>::step_count), ...);
    return static_cast<std::uint32_t>(calls);
  }

  /// Gives all state its initial value.
  template <class Memory>
  static constexpr void reset(Memory& state) noexcept {
    reset_from<0, Ms...>(state);
  }

 private:
  template <std::size_t Row, class M, class... Rest, class Memory>
  static constexpr void reset_from(Memory& state) noexcept {
    using Method = static_method<M, Settings>;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (reset_row<Method, Row + I, I>(state), ...);
    }(std::make_index_sequence<Method::state_count>{});
    if constexpr (sizeof...(Rest) > 0) reset_from<Row + Method::state_count, Rest...>(state);
  }
  template <class Method, std::size_t Row, std::size_t I, class Memory>
  static constexpr void reset_row(Memory& state) noexcept {
    if constexpr (!is_repeated(State::rows.data(), Row)) Method::template reset<I>(state);
  }
};

}  // namespace davit::detail
