// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/embed/run_step.hpp"
#include "davit/embed/sized_plan.hpp"
#include "davit/embed/static_argument.hpp"
#include "davit/embed/static_memory.hpp"
#include "davit/embed/static_method.hpp"
#include "davit/embed/static_program.hpp"
#include "davit/embed/static_settings.hpp"
#include "davit/embed/static_state.hpp"

namespace davit {

namespace detail {

/// The memory of a run in one of several sizes.
template <class Memory>
struct SizedMemory : Memory {
  std::uint32_t size;  ///< its index among the sizes with the same code
};

/// The sizes of a method, grouped by code, and the least sizes of a call's tensors.
template <class Sizes, class Settings>
struct SizeTable;
template <class... Ps, class Settings>
struct SizeTable<static_sizes<Ps...>, Settings> {
  static_assert(sizeof...(Ps) > 0, "davit: a program of several sizes needs at least one: static_sizes<...>");
  static constexpr std::uint32_t count = sizeof...(Ps);
  using Largest = std::tuple_element_t<count - 1, std::tuple<Ps...>>;
  template <class P>
  using Planned = typename Settings::template with_backends<planned_for, P, false>;
  static constexpr std::size_t ports = Planned<Largest>::sizes.ports;

  static constexpr std::array<PlanView, count> plans{view_of_plan<Ps, Planned<Ps>>()...};
  /// Per size, the first size with the same code.
  static constexpr std::array<std::uint32_t, count> code_of = [] {
    std::array<std::uint32_t, count> all{};
    for (std::uint32_t i = 0; i < count; ++i)
      while (!same_code(plans[all[i]], plans[i])) ++all[i];
    return all;
  }();
  /// Per size, its index among the sizes with the same code.
  static constexpr std::array<std::uint32_t, count> place_of = [] {
    std::array<std::uint32_t, count> all{};
    for (std::uint32_t i = 0; i < count; ++i)
      all[i] = static_cast<std::uint32_t>(std::count(code_of.begin(), code_of.begin() + i, code_of[i]));
    return all;
  }();
  static constexpr std::uint32_t codes = [] {
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < count; ++i) n += code_of[i] == i ? 1 : 0;
    return n;
  }();
  /// The sizes whose code is that of size `First`.
  template <std::uint32_t First>
  static constexpr auto members = [] {
    std::array<std::uint32_t, static_cast<std::size_t>(std::count(code_of.begin(), code_of.end(), First))> all{};
    for (std::uint32_t i = 0, k = 0; i < count; ++i)
      if (code_of[i] == First) all[k++] = i;
    return all;
  }();
  /// The joint plan of these sizes.
  template <std::uint32_t First>
  static consteval auto plan_of() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      using All = std::tuple<Ps...>;
      return std::type_identity<SizedPlan<std::tuple<std::tuple_element_t<members<First>[I], All>...>,
                                          std::tuple<Planned<std::tuple_element_t<members<First>[I], All>>...>>>{};
    }(std::make_index_sequence<members<First>.size()>{});
  }
  template <std::uint32_t First>
  using Plan = typename decltype(plan_of<First>())::type;
  template <std::uint32_t First>
  using Program = std::tuple_element_t<First, std::tuple<Ps...>>;

  template <std::uint32_t I>
  static consteval std::size_t table_bytes_of() {
    if constexpr (code_of[I] == I) return Plan<I>::table_bytes;
    return 0;
  }
  static consteval std::size_t table_bytes() {
    return []<std::uint32_t... I>(std::integer_sequence<std::uint32_t, I...>) {
      return (std::size_t{0} + ... + table_bytes_of<I>());
    }(std::make_integer_sequence<std::uint32_t, count>{});
  }

  /// Per size, the number of elements of port I's tensor, and their maximum.
  template <std::size_t I>
  static constexpr std::array<std::uint32_t, count> elements_of{
      static_cast<std::uint32_t>(Planned<Ps>::graph.values[Planned<Ps>::frozen.ports[I].value].numel)...};
  template <std::size_t I>
  static constexpr std::uint32_t max_elements = *std::max_element(elements_of<I>.begin(), elements_of<I>.end());
  /// Per size, the values of the symbols.
  static constexpr std::array<std::remove_const_t<decltype(Largest::symbols)>, count> symbols{Ps::symbols...};
  static constexpr bool are_told_apart = [] {
    for (std::uint32_t i = 0; i < count; ++i)
      for (std::uint32_t j = 0; j < i; ++j)
        if (symbols[i] == symbols[j]) return false;
    return true;
  }();
  template <class P>
  static consteval bool has_same_ports() {
    const auto& all = Planned<P>::frozen.ports;
    const auto& largest = Planned<Largest>::frozen.ports;
    bool same = Planned<P>::sizes.ports == ports;
    for (std::size_t i = 0; same && i < ports; ++i) {
      const StaticValue &a = Planned<P>::graph.values[all[i].value],
                        &b = Planned<Largest>::graph.values[largest[i].value];
      same = all[i].is_output == largest[i].is_output && all[i].is_mutated == largest[i].is_mutated &&
             a.dtype == b.dtype && a.rank == b.rank;
    }
    return same;
  }
};

}  // namespace detail

/// A method of a static_module whose sizes come with the call: its memory is enough for each of them. Sizes whose plans
/// differ in numbers alone share code, which looks these up.
template <HasStaticSizes P, class Settings>
class static_method<P, Settings> {
  template <class List>
  struct Each;
  template <class... Ps>
  struct Each<static_sizes<Ps...>> {
    using Sizes = detail::SizeTable<static_sizes<Ps...>, Settings>;
    using State = detail::SharedStaticState<static_method<Ps, Settings>...>;
    static_assert((!static_method<Ps, Settings>::has_device && ...),
                  "davit: a device's steps are of one size: embed the model with numbers for its symbols");
    static_assert((Sizes::template has_same_ports<Ps>() && ...),
                  "davit: the sizes of a method take other tensors; embed the model again");
    static_assert(detail::agree(State::rows.data(), State::rows.size()) &&
                      ((static_method<Ps, Settings>::state_pools.counts == State::pools.counts) && ...),
                  "davit: state has other sizes, or other initial values, in one size of a method than in another; "
                  "embed the model again");
    static constexpr std::size_t arena_bytes = std::max({static_method<Ps, Settings>::arena_bytes...});
    static constexpr std::size_t step_count = std::max({static_method<Ps, Settings>::step_count...});
    template <class Visit>
    static constexpr void for_each_constant(Visit&& visit) {
      (static_method<Ps, Settings>::for_each_constant(visit), ...);
    }
  };
  using All = Each<typename P::sizes>;
  using Sizes = typename All::Sizes;
  using Largest = static_method<typename Sizes::Largest, Settings>;
  static_assert(!Settings::has_tensors,
                "davit: tensors whose sizes come with the call are arguments of forward: leave out tensors_in_arena");
  static_assert(Sizes::are_told_apart,
                "davit: two sizes of a method have the same numbers of its symbols; embed the model again");

 public:
  using program = P;
  static constexpr std::size_t arena_bytes = All::arena_bytes;
  static constexpr std::size_t step_count = All::step_count;
  /// Bytes of values that the backends computed from constants, and of numbers that differ between sizes.
  static constexpr std::size_t table_bytes = Sizes::table_bytes();
  static constexpr std::size_t weight_bytes = [] {
    detail::DistinctConstants seen;
    std::size_t bytes = table_bytes;
    for_each_constant([&](const ConstantData& data) { bytes += seen.add(data); });
    return bytes;
  }();
  static constexpr StatePools state_pools = Largest::state_pools;
  /// The dims, and the tensors.
  static constexpr std::size_t argument_count = 1 + Sizes::ports;
  static constexpr bool has_device = false;
  static constexpr bool maintains_cache = Largest::maintains_cache;
  static constexpr std::size_t state_count = Largest::state_count;
  static constexpr const auto& state_rows = Largest::state_rows;
  // Of the largest size.
  [[nodiscard]] static consteval const auto& backend_of() { return Largest::backend_of(); }
  [[nodiscard]] static consteval const auto& partition_of() { return Largest::partition_of(); }
  [[nodiscard]] static consteval const auto& operators() { return Largest::operators(); }

  template <class Visit>
  static constexpr void for_each_constant(Visit&& visit) {
    All::for_each_constant(visit);
  }
  template <std::size_t Row, class State>
  static constexpr void reset(State& state) noexcept {
    Largest::template reset<Row>(state);
  }

  /// Runs the size of these dims, in an arena of arena_bytes, on the leading elements of each tensor. Errors:
  /// invalid_shape: the size does not exist, or a tensor has too few elements. O(sizes) for the search.
  template <class, std::uint32_t first_call, class State, class Dims, class... Arguments>
  static constexpr Status run(std::byte* arena, State& state, Dims& dims, Arguments&... arguments) noexcept {
    using Memory = detail::SizedMemory<RunMemory<State, Sizes::ports>>;
    static_assert(std::is_same_v<std::remove_const_t<Dims>,
                                 StaticDims<std::tuple_size_v<std::remove_const_t<decltype(Sizes::Largest::symbols)>>>>,
                  "davit: the first argument of forward is what its sizes follow from: davit::with_dims(...), a number "
                  "for each symbol");
    check<Arguments...>(std::make_index_sequence<Sizes::ports>{});
    std::uint32_t size = 0;
    while (size < Sizes::count && Sizes::symbols[size] != dims.numbers) ++size;
    if (size == Sizes::count || !are_enough(size, std::make_index_sequence<Sizes::ports>{}, arguments...))
      return std::unexpected(Fault(ErrorCode::invalid_shape));
    Fault fault;
    bool ok = false;
    if consteval {
      TypedArena typed(arena_bytes);
      Memory memory{{&typed, &state, {detail::first_element(arguments)...}}, Sizes::place_of[size]};
      ok = run_size<first_call>(size, memory, fault);
    } else {
      Memory memory{{arena, &state, {detail::first_element(arguments)...}}, Sizes::place_of[size]};
      ok = run_size<first_call>(size, memory, fault);
    }
    if (!ok) return std::unexpected(fault);
    return {};
  }

 private:
  template <std::uint32_t first_call, class Memory>
  static constexpr bool run_size(std::uint32_t size, Memory& memory, Fault& fault) {
    return [&]<std::uint32_t... I>(std::integer_sequence<std::uint32_t, I...>) {
      bool ok = false;
      (void)((Sizes::code_of[size] == I && (ok = run_code<I, first_call>(memory, fault), true)) || ...);
      return ok;
    }(std::make_integer_sequence<std::uint32_t, Sizes::count>{});
  }
  template <std::uint32_t First, std::uint32_t first_call, class Memory>
  static constexpr bool run_code(Memory& memory, Fault& fault) {
    if constexpr (Sizes::code_of[First] == First)
      return detail::StepCode<typename Sizes::template Program<First>, typename Sizes::template Plan<First>,
                              typename Settings::StaticBackends, typename Settings::Policies, Memory,
                              typename Settings::Hook, first_call>::run(memory, fault);
    return false;
  }

  template <std::size_t I, class A>
  static consteval void check_one() {
    using Planned = typename Sizes::template Planned<typename Sizes::Largest>;
    constexpr StaticPort port = Planned::frozen.ports[I];
    constexpr StaticValue value = Planned::graph.values[port.value];
    constexpr ArgumentShape shape = argument_shape<A>;
    static_assert(shape.dtype != ScalarType::undefined && shape.is_flat && shape.rank == 1,
                  "davit: an argument of forward is no flat tensor, and its sizes come with the call; pass a "
                  "std::span<T> or an array");
    static_assert(shape.dtype == value.dtype,
                  "davit: an argument of forward has another element type than the program's tensor");
    static_assert(shape.writable || (port.is_output == 0 && port.is_mutated == 0),
                  "davit: an argument of forward is const, but forward writes it (an output, or an input that the "
                  "program mutates)");
  }
  /// True if each tensor has enough elements for that size.
  template <std::size_t... I, class... Arguments>
  [[gnu::always_inline]] static constexpr bool are_enough(std::uint32_t size, std::index_sequence<I...>,
                                                          const Arguments&... arguments) noexcept {
    return (is_enough<I>(size, arguments) && ...);
  }
  template <std::size_t I, class A>
  [[gnu::always_inline]] static constexpr bool is_enough(std::uint32_t size, const A& argument) noexcept {
    if constexpr (argument_shape<A>.known && argument_shape<A>.sizes[0] >= Sizes::template max_elements<I>)
      return true;  // enough for every size
    return std::size(argument) >= Sizes::template elements_of<I>[size];
  }
  template <class... As, std::size_t... I>
  static consteval void check(std::index_sequence<I...>) {
    (check_one<I, As>(), ...);
  }
};

}  // namespace davit
