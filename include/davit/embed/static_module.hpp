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
#include "davit/embed/run_device.hpp"
#include "davit/embed/static_argument.hpp"
#include "davit/embed/static_method.hpp"
#include "davit/embed/static_settings.hpp"

namespace davit {

/// A program lowered by the compiler onto the first of `Backends` that takes each node.
///
/// Partitioning, the backends' preprocess and memory planning run in constant evaluation; `forward` (see call) is
/// straight code over one arena. No heap, no registry. Runs on a device, on a host, and in static_assert.
/// `external_arena`, `tensors_in_arena` and `step_hook<H>` may precede the backends. Control flow (cond, while_loop,
/// scan, map) is such code too, with its values in the same arena; a data-dependent loop runs while its condition
/// holds.
///
/// A program of several methods (`davit embed prefill=FILE decode=FILE --name P`) has a function for each instead of
/// forward, `module.prefill(...)`, `module.decode(...)`, that takes what forward would. They share the state, by the
/// names of the model's buffers, and an arena that is enough for each: they must not run at the same time.
template <class P, class... Backends>
class static_module : public detail::MethodsOf<P>::template calls<static_module<P, Backends...>> {
  using Settings = detail::StaticSettings<Backends...>;
  static_assert(Settings::backend_count > 0,
                "davit: static_module<Program, Backends...> needs at least one backend, such as davit::portable");
  static_assert(!Settings::lacks_portable,
                "davit: static_module<Program, davit::portable> needs davit/backends/portable/embed.hpp; include it: "
                "what davit/davit.hpp has of "
                "portable runs where there is a heap");
  static_assert(Settings::are_backends || Settings::lacks_portable,
                "davit: a backend of static_module is no StaticBackend: it needs name, Kernels and embed(node, steps), "
                "see davit/backend/embed_contract.hpp; include the header of its static part");
  using Methods = detail::MethodTable<typename detail::MethodsOf<P>::methods, Settings>;
  static_assert(Methods::count == 1 || detail::agree(Methods::State::rows.data(), Methods::State::rows.size()),
                "davit: methods of the program have other sizes or another initial value for the same state, or state "
                "that overlaps; "
                "embed the models again");
  using State = StaticState<Methods::State::pools>;
  static constexpr bool has_initial_state =
      detail::have_initial_value(Methods::State::rows.data(), Methods::State::rows.size());
  /// The memory of method M's runs; with a device that of all methods' runs.
  template <class M>
  using Memory =
      RunMemory<State, Methods::has_device ? Methods::max_arguments : static_method<M, Settings>::argument_count>;
  template <class M>
  static constexpr std::uint32_t first_call = [] {
    if constexpr (std::is_void_v<typename Settings::Hook>)
      return 0u;
    else
      return Methods::template calls_before<M>();
  }();

 public:
  /// Method M, one of P::methods or P itself: its arena_bytes, weight_bytes, table_bytes, step_count, backend_of(),
  /// partition_of(), operators().
  template <class M>
  using method = static_method<M, Settings>;

  /// The program's name, and those of the backends, in order.
  static constexpr std::string_view name = P::name;
  static constexpr std::array<std::string_view, Settings::backend_count> backends = Settings::names();
  /// Bytes of the arena: the peak of intermediate values and scratch (and, with tensors_in_arena, inputs and outputs).
  static constexpr std::size_t arena_bytes = Methods::arena_bytes;
  /// Bytes of mutable state (buffers).
  static constexpr std::size_t state_bytes = Methods::State::pools.bytes();
  /// True if a device runs a step of the program: then there are start (forward_start), step and done.
  static constexpr bool has_device = Methods::has_device;
  /// All memory that a module writes: arena (its own or the caller's), state, and, with a device, the position of a
  /// run.
  static constexpr std::size_t ram_bytes =
      arena_bytes + state_bytes +
      (has_device ? sizeof(detail::RunProgress) + sizeof(Memory<typename Methods::First>) : 0);
  /// Bytes of values that the backends computed from constants (folded biases, multipliers).
  static constexpr std::size_t table_bytes = Methods::table_bytes;
  /// Bytes of constants that the methods read: the program's, and the backends' tables.
  static constexpr std::size_t weight_bytes = Methods::weight_bytes;
  /// The kernel calls of a forward, or of all methods together, each counted once.
  static constexpr std::size_t step_count = Methods::step_count;
  // functions, so that programs that do not call them save compile time
  /// Per node (its debug handle), the index of its backend; 255 if it is never computed.
  [[nodiscard]] static consteval const auto& backend_of() { return only::backend_of(); }
  /// The partition of each node: consecutive nodes of one backend share a partition; no_id for nodes that are never
  /// computed.
  [[nodiscard]] static consteval const auto& partition_of() { return only::partition_of(); }
  /// The operators of the backends' nodes, sorted, each once.
  [[nodiscard]] static consteval const auto& operators() { return only::operators(); }

  constexpr static_module() noexcept = default;

  /// Runs method M, one of P::methods or P itself, as `module.forward(...)` or the method's own function does: with
  /// external_arena the arena, then user inputs in order, then user outputs in order, each a std::span of fixed extent,
  /// an array, nested arrays of the tensor's sizes or a StaticTensor. Another dtype, rank or extent does not compile.
  /// Arguments must not overlap. An arena is a static_arena, or std::bytes, whose number is checked at compile time if
  /// it is known. Errors: the code of the kernel that failed and its node's number as debug handle; state is then
  /// unchanged. out_of_memory, invalid_argument: the arena is too small, or not aligned to static_alignment.
  template <class M, class... Arguments>
  constexpr Status call(Arguments&&... arguments) noexcept {
    static_assert(Methods::template has<M>,
                  "davit: the program has no such method; its methods are the types in P::methods");
    static_assert(sizeof...(Arguments) == expected<M>,
                  "davit: forward takes the program's user inputs and then its user outputs, one argument each (with "
                  "external_arena behind the arena; with tensors_in_arena none)");
    return dispatch<M, false>(arguments...);
  }

  /// @name Asynchronous runs of modules with a device, during which the CPU is free. See "Devices" in
  /// davit/backend/embed_contract.hpp for what interrupts may call.
  /// @{ Begins a run of method M, as `module.forward_start(...)` does, and returns when the device has its first
  /// command (or the run has ended). The arguments are those of call; they must live, and the module must not move,
  /// until the run has ended. Errors: those of call; not_available: a run is under way.
  template <class M, class... Arguments>
  constexpr Status start(Arguments&&... arguments) noexcept {
    static_assert(has_device, "davit: no step of this static_module is a device's: call forward");
    static_assert(Methods::template has<M>,
                  "davit: the program has no such method; its methods are the types in P::methods");
    static_assert(sizeof...(Arguments) == expected<M>, "davit: forward_start takes the arguments of forward");
    static_assert(((std::is_lvalue_reference_v<Arguments> || detail::is_view<std::remove_cvref_t<Arguments>>) && ...),
                  "davit: forward_start needs its arguments until the run has ended, and this one is a temporary that "
                  "ends before");
    if constexpr (has_device) return dispatch<M, true>(arguments...);
    return {};
  }
  /// Continues the run if the device is done, up to its next unfinished command or the end. O(1) if the device is not
  /// done.
  RunState step() noexcept {
    static_assert(has_device, "davit: no step of this static_module is a device's: call forward");
    if constexpr (has_device) {
      const RunState state = take();
      return state == RunState::waiting ? advance() : state;
    }
    return RunState::idle;
  }
  /// True if no run is active: none was started, or it has ended.
  [[nodiscard]] bool done() const noexcept {
    static_assert(has_device, "davit: no step of this static_module is a device's: call forward");
    if constexpr (has_device) return !is_busy();
    return true;
  }
  /// The result of the last run, if it has ended: the error of a failed one, with its node's number as debug handle.
  [[nodiscard]] Status status() const noexcept {
    static_assert(has_device, "davit: no step of this static_module is a device's: call forward");
    if constexpr (has_device)
      if (__atomic_load_n(&run_.state, __ATOMIC_ACQUIRE) == static_cast<std::uint8_t>(RunState::failed))
        return std::unexpected(run_.progress.fault);
    return {};
  }
  /// @}

  /// Gives the state of all methods its initial value. Not during a run.
  constexpr void reset() noexcept { Methods::reset(state_); }
  /// The arena, for measurements of its use.
  [[nodiscard]] std::span<std::byte, arena_bytes> arena() noexcept {
    static_assert(Settings::owns_arena, "davit: the arena is the caller's");
    return std::span<std::byte, arena_bytes>(arena_.bytes, arena_bytes);
  }

  /// @name With tensors_in_arena: user input or output I, of method M if there are several, as a std::span of its
  /// elements. See tensors_in_arena for the times when they may be written and read. With external_arena, in that
  /// arena.
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
    static_assert(Methods::count == 1,
                  "davit: the program has several methods: name one, as in Module::method<P::decode>::operators()");
  };
  using only = OnlyMethod<typename Methods::First>;
  template <int>
  struct Nothing {};
  /// The bytes are uninitialized before a run, and a module can still be constinit: a global one needs no static
  /// constructor.
  union OwnArena {
    constexpr OwnArena() noexcept : none() {}
    std::byte none;
    static constexpr std::size_t line = Methods::maintains_cache ? static_cache_line : 1;
    alignas(Methods::maintains_cache
                ? static_cache_line
                : static_alignment) std::byte bytes[arena_bytes == 0 ? 1 : (arena_bytes + line - 1) / line * line];
  };
  /// An active run.
  template <int>
  struct Run {
    std::uint8_t state =
        static_cast<std::uint8_t>(RunState::idle);  ///< the state that other threads and interrupts see
    std::uint32_t method = 0;
    detail::RunProgress progress{};
    Memory<typename Methods::First> memory{static_cast<std::byte*>(nullptr), nullptr, {}};
  };

  /// The number of arguments of a call of method M.
  template <class M>
  static constexpr std::size_t expected = method<M>::argument_count + (Settings::owns_arena ? 0 : 1);
  template <class M, bool Starts, class... Arguments>
  constexpr Status dispatch(Arguments&... arguments) noexcept {
    if constexpr (sizeof...(Arguments) != expected<M>)
      return {};
    else if constexpr (Settings::owns_arena)
      return run<M, Starts>(arena_.bytes, arguments...);
    else
      return run_in<M, Starts>(arguments...);
  }
  template <class M, bool Starts, class... Arguments>
  constexpr Status run(std::byte* arena, Arguments&... arguments) noexcept {
    if constexpr (has_device)
      if !consteval {
        if (is_busy()) return std::unexpected(Fault(ErrorCode::not_available));
      }
    if constexpr (has_initial_state) {
      if (!started_) {
        started_ = true;
        reset();
      }
    }
    if constexpr (Starts) {
      run_.memory = method<M>::template memory_of<Memory<M>>(arena, state_, arguments...);
      run_.method = Methods::template index_of<M>();
      run_.progress = {.state = RunState::running};
      __atomic_store_n(&run_.state, static_cast<std::uint8_t>(RunState::running), __ATOMIC_RELEASE);
      advance();
      return status();
    } else {
      return method<M>::template run<Memory<M>, first_call<M>>(arena, state_, arguments...);
    }
  }
  [[nodiscard]] bool is_busy() const noexcept {
    const auto state = static_cast<RunState>(__atomic_load_n(&run_.state, __ATOMIC_ACQUIRE));
    return state == RunState::running || state == RunState::waiting;
  }
  /// Continues a run whose `state` is claimed by this call. A device that finishes before `state` becomes waiting may
  /// have raised its interrupt already, whose step then found the run claimed; hence the loop.
  RunState advance() noexcept {
    while (true) {
      RunState state{};
      bool waits = false;
      Methods::at(run_.method, [&]<class M>() {
        using Steps = typename method<M>::template DeviceCode<Memory<M>, first_call<M>>;
        Steps::advance(run_.memory, run_.progress);
        state = run_.progress.state;  // another step may follow at once
        __atomic_store_n(&run_.state, static_cast<std::uint8_t>(state), __ATOMIC_RELEASE);
        waits = state == RunState::waiting && !Steps::is_done(run_.progress);
      });
      if (state != RunState::waiting || waits) return state;
      if (const RunState other = take(); other != RunState::waiting) return other;
    }
  }
  /// Changes a waiting run to a running one; returns the previous state.
  RunState take() noexcept {
    auto seen = static_cast<std::uint8_t>(RunState::waiting);
    (void)__atomic_compare_exchange_n(&run_.state, &seen, static_cast<std::uint8_t>(RunState::running), false,
                                      __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    return static_cast<RunState>(seen);
  }
  template <class Arena>
  static consteval void check_arena() {
    static_assert(
        detail::ArenaMemory<Arena>,
        "davit: with external_arena the first argument is the arena: a davit::static_arena<N>, a std::span or an "
        "array of std::byte");
    if constexpr (detail::ArenaMemory<Arena>)
      static_assert(decltype(detail::given_arena(std::declval<Arena&>()))::extent >= arena_bytes,
                    "davit: the arena has less bytes than the module's arena_bytes");
  }
  template <class M, bool Starts, class Arena, class... Arguments>
  constexpr Status run_in(Arena& arena, Arguments&... arguments) noexcept {
    check_arena<Arena>();
    if constexpr (detail::ArenaMemory<Arena>) {
      const auto given = detail::given_arena(arena);
      if !consteval {
        if (const ErrorCode wrong = given.check(arena_bytes); wrong != ErrorCode::ok)
          return std::unexpected(Fault(wrong));
      }
      return run<M, Starts>(given.bytes.data(), arguments...);
    }
    return {};
  }

  /// The beginning of the arena with the tensors.
  template <class... Arena>
  [[nodiscard]] std::byte* base(Arena&... arena) noexcept {
    static_assert(Settings::has_tensors,
                  "davit: inputs and outputs are arguments of forward; name tensors_in_arena before the backends");
    static_assert(sizeof...(Arena) == (Settings::owns_arena ? 0 : 1),
                  "davit: the arena is given if it is the caller's, and only then");
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
  [[no_unique_address]] std::conditional_t<has_device, Run<0>, Nothing<2>> run_{};
};

}  // namespace davit
