// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "davit/core/error.hpp"
#include "davit/embed/method_table.hpp"
#include "davit/embed/static_method.hpp"
#include "davit/embed/static_settings.hpp"

namespace davit {

/// A program lowered by the compiler onto the first of `Backends` that takes each node.
///
/// Partitioning, the backends' preprocess and memory planning run in constant evaluation; `forward` (see call) is straight code over
/// one arena. No heap, no registry. Runs on a device, on a host, and in static_assert. Before the backends may stand
/// `external_arena`, `tensors_in_arena` and `step_hook<H>`. Control flow (cond, while_loop, scan, map) is code of the same
/// kind, its values are in the same arena; a loop that depends on data runs as long as its condition says.
///
/// A program of several methods (`davit embed prefill=FILE decode=FILE --name P`) has a function for each instead of forward,
/// `module.prefill(...)`, `module.decode(...)`, that takes what forward would. They share the state, by the names of the
/// model's buffers, and the arena, which is as large as the largest of theirs: none of them runs while another does.
template <class P, class... Backends>
class static_module : public detail::MethodsOf<P>::template calls<static_module<P, Backends...>> {
  using Settings = detail::StaticSettings<Backends...>;
  static_assert(Settings::backend_count > 0,
                "davit: static_module<Program, Backends...> needs at least one backend, such as davit::portable");
  static_assert(Settings::are_backends,
                "davit: a backend of static_module is no StaticBackend: it needs name, Kernels and embed(node, steps), "
                "see davit/backend/embed_contract.hpp "
                "(for davit::portable, include davit/backends/portable/embed.hpp)");
  using Methods = detail::MethodTable<typename detail::MethodsOf<P>::methods, Settings>;
  static_assert(Methods::count == 1 || Methods::State::agrees,
                "davit: methods of the program have other sizes or another initial value for the same state, or state that overlaps; "
                "embed the models again");
  using State = StaticState<Methods::State::pools>;
  static constexpr bool has_initial_state = Methods::State::has_initial;

 public:
  /// Method M, one of P::methods or P itself: its arena_bytes, weight_bytes, table_bytes, step_count, backend_of(), partition_of(),
  /// operators().
  template <class M>
  using method = static_method<M, Settings>;

  /// The program's name, and those of the backends, in order.
  static constexpr std::string_view name = P::name;
  static constexpr std::array<std::string_view, Settings::backend_count> backends = Settings::names();
  /// Bytes of the arena: what intermediate values and scratch need at most (and with tensors_in_arena, inputs and outputs).
  static constexpr std::size_t arena_bytes = Methods::arena_bytes;
  /// Bytes of mutable state (buffers).
  static constexpr std::size_t state_bytes = Methods::State::pools.bytes();
  /// All the memory that a module writes: arena (its own or the caller's) and state.
  static constexpr std::size_t ram_bytes = arena_bytes + state_bytes;
  /// Bytes of what the backends computed from constants (folded biases, multipliers).
  static constexpr std::size_t table_bytes = Methods::table_bytes;
  /// Bytes of constants that forward or another method reads: the program's, and the backends' tables.
  static constexpr std::size_t weight_bytes = Methods::weight_bytes;
  /// How many kernel calls a forward, or all methods together make, if all of them are made once.
  static constexpr std::size_t step_count = Methods::step_count;
  // Functions, so that programs that do not ask do not wait for the answers.
  /// Per node (its debug handle), the index of the backend that it was given to; 255 if it is never computed.
  [[nodiscard]] static consteval const auto& backend_of() { return only::backend_of(); }
  /// The partition of each node: nodes that follow one another on a backend share one; no_id for those never computed.
  [[nodiscard]] static consteval const auto& partition_of() { return only::partition_of(); }
  /// The operators of the nodes that backends were given, sorted, each once.
  [[nodiscard]] static consteval const auto& operators() { return only::operators(); }

  constexpr static_module() noexcept = default;

  /// Runs method M, one of P::methods or P itself, as `module.forward(...)` or the method's own function does: with external_arena
  /// the arena, then user inputs in order, then user outputs in order, each a std::span of fixed extent, an array, nested arrays
  /// of the tensor's sizes or a StaticTensor. Another dtype, rank or extent does not compile. Arguments must not overlap. An
  /// arena is a static_arena, or std::bytes whose number is checked when compiling if it is known then. Errors: the code of the
  /// kernel that failed and its node's number as debug handle; state is then unchanged. out_of_memory, invalid_argument: the
  /// arena is too small, or not aligned to static_alignment.
  template <class M, class... Arguments>
  constexpr Status call(Arguments&&... arguments) noexcept {
    static_assert(Methods::template has<M>, "davit: the program has no such method; its methods are the types in P::methods");
    constexpr std::size_t expected = method<M>::argument_count + (Settings::owns_arena ? 0 : 1);
    static_assert(sizeof...(Arguments) == expected,
                  "davit: forward takes the program's user inputs and then its user outputs, one argument each (with "
                  "external_arena behind the arena; with tensors_in_arena none)");
    if constexpr (sizeof...(Arguments) != expected)
      return {};
    else if constexpr (Settings::owns_arena)
      return run<M>(arena_.bytes, arguments...);
    else
      return run_in<M>(arguments...);
  }

  /// Gives the state of all methods its initial value.
  constexpr void reset() noexcept { Methods::reset(state_); }
  /// The arena, for those who want to look at its use.
  [[nodiscard]] std::span<std::byte, arena_bytes> arena() noexcept {
    static_assert(Settings::owns_arena, "davit: the arena is the caller's");
    return std::span<std::byte, arena_bytes>(arena_.bytes, arena_bytes);
  }

  /// @name With tensors_in_arena: where user input or output I, of method M if there are several, lies, as a std::span of its
  /// elements. See tensors_in_arena for when they may be written and read. With external_arena, in that arena.
  /// @{
  template <std::size_t I, class... Arena>
  [[nodiscard]] auto input(Arena&&... arena) noexcept {
    return only::template tensor<I, false>(base(arena...));
  }
  template <std::size_t I, class... Arena>
  [[nodiscard]] auto output(Arena&&... arena) noexcept {
    return only::template tensor<I, true>(base(arena...));
  }
  template <class M, std::size_t I, class... Arena>
  [[nodiscard]] auto input(Arena&&... arena) noexcept {
    return method<M>::template tensor<I, false>(base(arena...));
  }
  template <class M, std::size_t I, class... Arena>
  [[nodiscard]] auto output(Arena&&... arena) noexcept {
    return method<M>::template tensor<I, true>(base(arena...));
  }
  /// @}

 private:
  /// The program's one method.
  template <class M>
  struct OnlyMethod : method<M> {
    static_assert(Methods::count == 1, "davit: the program has several methods: name one, as in Module::method<P::decode>::operators()");
  };
  using only = OnlyMethod<typename Methods::First>;
  template <int>
  struct Nothing {};
  /// The bytes have no value before a run, and a module can still be constinit: a global one needs no static constructor.
  union OwnArena {
    constexpr OwnArena() noexcept : none() {}
    std::byte none;
    alignas(static_alignment) std::byte bytes[arena_bytes == 0 ? 1 : arena_bytes];
  };

  template <class M, class... Arguments>
  constexpr Status run(std::byte* arena, Arguments&... arguments) noexcept {
    if constexpr (has_initial_state) {
      if (!started_) {
        started_ = true;
        reset();
      }
    }
    constexpr std::uint32_t first_call = std::is_void_v<typename Settings::Hook> ? 0 : Methods::template calls_before<M>();
    return method<M>::template run<first_call>(arena, state_, arguments...);
  }
  template <class Arena>
  static consteval void check_arena() {
    static_assert(detail::ArenaMemory<Arena>,
                  "davit: with external_arena the first argument is the arena: a davit::static_arena<N>, a std::span or an "
                  "array of std::byte");
    if constexpr (detail::ArenaMemory<Arena>)
      static_assert(decltype(detail::given_arena(std::declval<Arena&>()))::extent >= arena_bytes,
                    "davit: the arena has less bytes than the module's arena_bytes");
  }
  template <class M, class Arena, class... Arguments>
  constexpr Status run_in(Arena& arena, Arguments&... arguments) noexcept {
    check_arena<Arena>();
    if constexpr (detail::ArenaMemory<Arena>) {
      const auto given = detail::given_arena(arena);
      if !consteval {
        if (const ErrorCode wrong = given.check(arena_bytes); wrong != ErrorCode::ok) return std::unexpected(Fault(wrong));
      }
      return run<M>(given.bytes.data(), arguments...);
    }
    return {};
  }

  /// Where the arena with the tensors begins.
  template <class... Arena>
  [[nodiscard]] std::byte* base(Arena&... arena) noexcept {
    static_assert(Settings::has_tensors, "davit: inputs and outputs are arguments of forward; name tensors_in_arena before the backends");
    static_assert(sizeof...(Arena) == (Settings::owns_arena ? 0 : 1), "davit: the arena is given if it is the caller's, and only then");
    if constexpr (Settings::owns_arena) {
      return arena_.bytes;
    } else {
      std::byte* first = nullptr;
      (..., (check_arena<Arena>(), first = detail::given_arena(arena).bytes.data()));
      return first;
    }
  }

  [[no_unique_address]] std::conditional_t<Settings::owns_arena, OwnArena, Nothing<0>> arena_;
  [[no_unique_address]] State state_{};
  [[no_unique_address]] std::conditional_t<has_initial_state, bool, Nothing<1>> started_{};
};

}  // namespace davit
