// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "davit/core/error.hpp"
#include "davit/embed/freeze_plan.hpp"
#include "davit/embed/report_text.hpp"
#include "davit/embed/run_device.hpp"
#include "davit/embed/run_step.hpp"
#include "davit/embed/static_argument.hpp"
#include "davit/embed/static_assignment.hpp"
#include "davit/embed/static_settings.hpp"

namespace davit {

/// The compiler's message for nodes that no backend takes: `Nodes` lists each as "name = operator (backend: reason,
/// ...)".
template <auto... Nodes>
struct these_nodes_have_no_backend {
  static constexpr bool none = sizeof...(Nodes) == 0;
  static_assert(none,
                "davit: the static_module's program has nodes that no backend takes (the line with "
                "these_nodes_have_no_backend lists them); "
                "name a backend that takes them, `portable` for most");
};

/// A program lowered by the compiler onto the first of `Backends` that takes each node.
///
/// Partitioning, the backends' preprocess and memory planning run in constant evaluation; forward is straight code over
/// one arena. No heap, no registry. Runs on a device, on a host, and in static_assert. Before the backends may stand
/// `external_arena`, `tensors_in_arena` and `step_hook<H>`. Control flow (cond, while_loop, scan, map) is code of the same
/// kind, its values are in the same arena; a loop that depends on data runs as long as its condition says.
template <class P, class... Backends>
class static_module {
  using Settings = detail::StaticSettings<Backends...>;
  static_assert(StaticProgram<P>,
                "davit: static_module<Program, ...> needs a StaticProgram: name, tables, inputs, outputs; `davit "
                "embed` writes one");
  static_assert(Settings::backend_count > 0,
                "davit: static_module<Program, Backends...> needs at least one backend, such as davit::portable");
  static_assert(Settings::are_backends,
                "davit: a backend of static_module is no StaticBackend: it needs name, Kernels and embed(node, steps), "
                "see davit/backend/embed_contract.hpp "
                "(for davit::portable, include davit/backends/portable/embed.hpp)");
  static_assert(P::inputs.size() == P::tables.inputs.size() && P::outputs.size() == P::tables.outputs.size(),
                "davit: a static program lists one StaticInput and one StaticOutput for each input and output of its graph");
  static_assert(detail::misfit_value<P>() == no_id,
                "davit: the value of this number has sizes that are not its number of elements, or more than a static program can have");
  static_assert(detail::misfit_input<P>() == no_id,
                "davit: the constant or state of this number does not have the elements that the program's graph says; embed the model again");
  using Planned = typename Settings::template with_backends<planned_for, P, Settings::has_tensors>;
  static constexpr auto problem_ = Planned::problem();
  static_assert(decltype(detail::in_parts<these_nodes_have_no_backend, problem_>())::none);
  using State = StaticState<Planned::sizes.state>;
  /// Tensors that forward takes.
  static constexpr std::size_t port_count = Settings::has_tensors ? 0 : Planned::sizes.ports;
  using Memory = RunMemory<State, port_count>;
  using Code = detail::StepCode<P, Planned, typename Settings::Faces, typename Settings::Policies, Memory, typename Settings::Hook>;
  using DeviceCode = detail::DeviceCode<P, Planned, typename Settings::Faces, typename Settings::Policies, Memory, typename Settings::Hook>;

 public:
  /// The program's name, and those of the backends, in order.
  static constexpr std::string_view name = P::name;
  static constexpr std::array<std::string_view, Settings::backend_count> backends = Settings::names();
  /// Bytes of the arena: what intermediate values and scratch need at most (and with tensors_in_arena, inputs and outputs).
  static constexpr std::size_t arena_bytes = Planned::sizes.arena_bytes;
  /// True if a device carries out a step of the program: then there are forward_start, step and done.
  static constexpr bool has_device = detail::DeviceRows<Planned, typename Settings::Faces>::any;
  /// Bytes of mutable state (buffers).
  static constexpr std::size_t state_bytes = Planned::sizes.state.bytes();
  /// All the memory that a module writes: arena (its own or the caller's) and state (and, with a device, where a run is).
  static constexpr std::size_t ram_bytes = arena_bytes + state_bytes + (has_device ? sizeof(detail::RunProgress) + sizeof(Memory) : 0);
  /// Bytes of what the backends computed from constants (folded biases, multipliers).
  static constexpr std::size_t table_bytes =
      Planned::sizes.i8 + 2 * Planned::sizes.i16 + 4 * (Planned::sizes.i32 + Planned::sizes.f32);
  /// Bytes of constants that forward reads: the program's, and the backends' tables.
  static constexpr std::size_t weight_bytes = Planned::sizes.constant_bytes + table_bytes;
  /// How many kernel calls a forward makes, if all of them are made once.
  static constexpr std::size_t step_count = Planned::sizes.steps - Planned::sizes.controls;
  // Functions, so that programs that do not ask do not wait for the answers.
  /// Per node (its debug handle), the index of the backend that it was given to; 255 if it is never computed.
  [[nodiscard]] static consteval const auto& backend_of() { return detail::StaticAssignment<Planned>::backend_of; }
  /// The partition of each node: nodes that follow one another on a backend share one; no_id for those never computed.
  [[nodiscard]] static consteval const auto& partition_of() { return detail::StaticAssignment<Planned>::partition_of; }
  /// The operators of the nodes that backends were given, sorted, each once.
  [[nodiscard]] static consteval const auto& operators() { return detail::StaticAssignment<Planned>::operators; }

  constexpr static_module() noexcept = default;

  /// Runs the program: with external_arena the arena, then user inputs in order, then user outputs in order, each a
  /// std::span of fixed extent, an array, nested arrays of the tensor's sizes or a StaticTensor. Another dtype, rank or
  /// extent does not compile. Arguments must not overlap. An arena is a static_arena, or std::bytes whose number is checked
  /// when compiling if it is known then. Errors: the code of the kernel that failed and its node's number as debug handle;
  /// state is then unchanged. out_of_memory, invalid_argument: the arena is too small, or not aligned to static_alignment.
  template <class... Arguments>
  constexpr Status forward(Arguments&&... arguments) noexcept {
    static_assert(sizeof...(Arguments) == port_count + (Settings::owns_arena ? 0 : 1),
                  "davit: forward takes the program's user inputs and then its user outputs, one argument each (with "
                  "external_arena behind the arena; with tensors_in_arena none)");
    return call<false>(arguments...);
  }

  /// @name Runs during which the CPU may do something else: of modules with a device. See "Devices" in
  /// davit/backend/embed_contract.hpp for what interrupts may call.
  /// @{
  /// Begins a run with the arguments of forward, which must stay until it has ended, and returns when the device has its first
  /// command (or the run has ended). The module must not be moved meanwhile. Errors: those of forward; not_available: a run
  /// is under way.
  template <class... Arguments>
  constexpr Status forward_start(Arguments&&... arguments) noexcept {
    static_assert(has_device, "davit: no step of this static_module is a device's: call forward");
    static_assert(sizeof...(Arguments) == port_count + (Settings::owns_arena ? 0 : 1),
                  "davit: forward_start takes the arguments of forward");
    if constexpr (has_device) return call<true>(arguments...);
    return {};
  }
  /// Goes on with the run if the device is done: until it has a command and is not done with it, or the end. O(1) if it is not.
  RunState step() noexcept {
    static_assert(has_device, "davit: no step of this static_module is a device's: call forward");
    if constexpr (has_device) {
      const RunState state = take();
      return state == RunState::waiting ? advance() : state;
    }
    return RunState::idle;
  }
  /// True if no run is under way: none was started, or it has ended.
  [[nodiscard]] bool done() const noexcept {
    static_assert(has_device, "davit: no step of this static_module is a device's: call forward");
    if constexpr (has_device) return !is_busy();
    return true;
  }
  /// How the last run ended, if it has: a failed one's error, with its node's number as debug handle.
  [[nodiscard]] Status status() const noexcept {
    static_assert(has_device, "davit: no step of this static_module is a device's: call forward");
    if constexpr (has_device)
      if (__atomic_load_n(&run_.state, __ATOMIC_ACQUIRE) == static_cast<std::uint8_t>(RunState::failed)) return std::unexpected(run_.progress.fault);
    return {};
  }
  /// @}

  /// Gives the state its initial value; not while a run is under way.
  constexpr void reset() noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (reset_input<I>(), ...);
    }(std::make_index_sequence<P::inputs.size()>{});
  }
  /// The arena, for those who want to look at its use.
  [[nodiscard]] std::span<std::byte, arena_bytes> arena() noexcept {
    static_assert(Settings::owns_arena, "davit: the arena is the caller's");
    return std::span<std::byte, arena_bytes>(arena_.bytes, arena_bytes);
  }

  /// @name With tensors_in_arena: where user input or output I lies, as a std::span of its elements. See tensors_in_arena for
  /// when they may be written and read. With external_arena, in that arena.
  /// @{
  template <std::size_t I, class... Arena>
  [[nodiscard]] auto input(Arena&&... arena) noexcept {
    return tensor<port_of(I, 0)>(arena...);
  }
  template <std::size_t I, class... Arena>
  [[nodiscard]] auto output(Arena&&... arena) noexcept {
    return tensor<port_of(I, 1)>(arena...);
  }
  /// @}

 private:
  static constexpr bool has_initial_state = [] {
    for (const StaticInput& input : P::inputs)
      if (input.role == StaticRole::state && input.data.place != ConstantData::Place::none) return true;
    return false;
  }();
  template <int>
  struct Nothing {};
  /// The bytes have no value before a run, and a module can still be constinit: a global one needs no static constructor.
  union OwnArena {
    constexpr OwnArena() noexcept : none() {}
    std::byte none;
    static constexpr std::size_t line = Planned::has_bytes ? static_cache_line : 1;
    alignas(Planned::has_bytes ? static_cache_line : static_alignment) std::byte bytes[arena_bytes == 0 ? 1 : (arena_bytes + line - 1) / line * line];
  };

  /// A run that is under way.
  template <int>
  struct Run {
    std::uint8_t state = static_cast<std::uint8_t>(RunState::idle);  ///< what others may see
    detail::RunProgress progress{};
    Memory memory{static_cast<std::byte*>(nullptr), nullptr, {}};
  };

  template <bool Starts, class... Arguments>
  constexpr Status call(Arguments&... arguments) noexcept {
    if constexpr (sizeof...(Arguments) != port_count + (Settings::owns_arena ? 0 : 1))
      return {};
    else if constexpr (Settings::owns_arena)
      return run<Starts>(arena_.bytes, arguments...);
    else
      return run_in<Starts>(arguments...);
  }
  template <bool Starts, class... Arguments>
  constexpr Status run(std::byte* arena, Arguments&... arguments) noexcept {
    check<Arguments...>(std::make_index_sequence<port_count>{});
    if constexpr (has_device)
      if !consteval {
        if (is_busy()) return std::unexpected(Fault(ErrorCode::not_available));
      }
    start();
    Fault fault;
    bool ok = false;
    if constexpr (Starts) {
      run_.memory = Memory{arena, &state_, {detail::first_element(arguments)...}};
      run_.progress = {.state = RunState::running};
      __atomic_store_n(&run_.state, static_cast<std::uint8_t>(RunState::running), __ATOMIC_RELEASE);
      advance();
      return status();
    } else if consteval {
      TypedArena typed(arena_bytes);
      Memory memory{&typed, &state_, {detail::first_element(arguments)...}};
      ok = run_all(memory, fault);
    } else {
      Memory memory{arena, &state_, {detail::first_element(arguments)...}};
      ok = run_all(memory, fault);
    }
    if (!ok) return std::unexpected(fault);
    return {};
  }
  [[gnu::always_inline]] static constexpr bool run_all(Memory& memory, Fault& fault) {
    if constexpr (!has_device) {
      return Code::run(memory, fault);
    } else {
      detail::RunProgress progress{.state = RunState::running};
      while (true) {
        DeviceCode::advance(memory, progress);
        if (progress.state != RunState::waiting) break;
        DeviceCode::wait(progress);
      }
      fault = progress.fault;
      return progress.state == RunState::done;
    }
  }
  [[nodiscard]] bool is_busy() const noexcept {
    const auto state = static_cast<RunState>(__atomic_load_n(&run_.state, __ATOMIC_ACQUIRE));
    return state == RunState::running || state == RunState::waiting;
  }
  /// Goes on with a run whose `state` says that somebody does. A device that is done before `state` says that the run waits may
  /// have had its interrupt already: its step has met this one.
  RunState advance() noexcept {
    while (true) {
      DeviceCode::advance(run_.memory, run_.progress);
      const RunState state = run_.progress.state;  // another step may come at once
      __atomic_store_n(&run_.state, static_cast<std::uint8_t>(state), __ATOMIC_RELEASE);
      if (state != RunState::waiting || !DeviceCode::is_done(run_.progress)) return state;
      if (const RunState other = take(); other != RunState::waiting) return other;
    }
  }
  /// Makes a waiting run a running one; answers what it was.
  RunState take() noexcept {
    auto seen = static_cast<std::uint8_t>(RunState::waiting);
    (void)__atomic_compare_exchange_n(&run_.state, &seen, static_cast<std::uint8_t>(RunState::running), false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    return static_cast<RunState>(seen);
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
  template <bool Starts, class Arena, class... Arguments>
  constexpr Status run_in(Arena& arena, Arguments&... arguments) noexcept {
    check_arena<Arena>();
    if constexpr (detail::ArenaMemory<Arena>) {
      const auto given = detail::given_arena(arena);
      if !consteval {
        if (const ErrorCode wrong = given.check(arena_bytes); wrong != ErrorCode::ok) return std::unexpected(Fault(wrong));
      }
      return run<Starts>(given.bytes.data(), arguments...);
    }
    return {};
  }

  /// The port of the I-th input or output; the number of ports if there is none.
  static consteval std::size_t port_of(std::size_t i, std::uint8_t is_output) {
    std::size_t port = 0;
    while (port < Planned::sizes.ports && (Planned::frozen.ports[port].is_output != is_output || i-- != 0)) ++port;
    return port;
  }
  template <std::size_t Port, class... Arena>
  [[nodiscard]] auto tensor(Arena&... arena) noexcept {
    static_assert(Settings::has_tensors, "davit: inputs and outputs are arguments of forward; name tensors_in_arena before the backends");
    static_assert(Port < Planned::sizes.ports, "davit: the program has no user input or output of that number");
    static_assert(sizeof...(Arena) == (Settings::owns_arena ? 0 : 1), "davit: the arena is given if it is the caller's, and only then");
    constexpr StaticPort port = Planned::frozen.ports[Port];
    constexpr StaticValue value = Planned::graph.values[port.value];
    using T = element_of<value.dtype>;
    std::byte* base = nullptr;
    if constexpr (Settings::owns_arena)
      base = arena_.bytes;
    else
      (..., (check_arena<Arena>(), base = detail::given_arena(arena).bytes.data()));
    return std::span<T, static_cast<std::size_t>(value.numel)>(reinterpret_cast<T*>(base + port.offset), value.numel);
  }

  constexpr void start() noexcept {
    if constexpr (has_initial_state) {
      if (started_) return;
      started_ = true;
      reset();
    }
  }
  template <std::size_t I>
  constexpr void reset_input() noexcept {
    constexpr StaticInput input = P::inputs[I];
    if constexpr (input.role == StaticRole::state) {
      constexpr ValueId v = Planned::graph.inputs[I];
      using T = element_of<Planned::graph.values[v].dtype>;
      T* to = state_.template of<T>() + Planned::frozen.state_offset[I];
      if constexpr (input.data.place == ConstantData::Place::none) {
        std::fill_n(to, Planned::graph.values[v].numel, T{});
      } else if constexpr (input.data.place == ConstantData::Place::array) {
        std::copy_n(input.data.template as<T>(), input.data.count, to);
      } else {
        __builtin_memcpy(to, P::weights() + input.data.offset, input.data.bytes());
      }
    }
  }

  template <std::size_t I, class A>
  static consteval void check_one() {
    constexpr StaticPort port = Planned::frozen.ports[I];
    constexpr StaticValue value = Planned::graph.values[port.value];
    constexpr ArgumentShape shape = argument_shape<A>;
    static_assert(shape.known,
                  "davit: an argument of forward is no tensor of fixed extent; pass a std::span<T, N>, an array, or a "
                  "davit::StaticTensor");
    if constexpr (shape.known) {
      static_assert(shape.dtype == value.dtype,
                    "davit: an argument of forward has another element type than the program's tensor");
      static_assert(shape.writable || (port.is_output == 0 && port.is_mutated == 0),
                    "davit: an argument of forward is const, but forward writes it (an output, or an input that the "
                    "program mutates)");
      static_assert(shape.is_flat || shape.rank == value.rank,
                    "davit: an argument of forward has another rank than the program's tensor");
      static_assert(fits(shape, value), "davit: an argument of forward has other sizes than the program's tensor");
    }
  }
  static constexpr bool fits(const ArgumentShape& shape, const StaticValue& value) noexcept {
    if (shape.is_flat) return shape.sizes[0] == value.numel;
    if (shape.rank != value.rank) return true;  // said already
    for (std::size_t d = 0; d < value.rank; ++d)
      if (shape.sizes[d] != Planned::graph.sizes[value.first_size + d]) return false;
    return true;
  }
  template <class... As, std::size_t... I>
  static consteval void check(std::index_sequence<I...>) {
    (check_one<I, As>(), ...);
  }

  [[no_unique_address]] std::conditional_t<Settings::owns_arena, OwnArena, Nothing<0>> arena_;
  [[no_unique_address]] State state_{};
  [[no_unique_address]] std::conditional_t<has_initial_state, bool, Nothing<1>> started_{};
  [[no_unique_address]] std::conditional_t<has_device, Run<0>, Nothing<2>> run_{};
};

}  // namespace davit
