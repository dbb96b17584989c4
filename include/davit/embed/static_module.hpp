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
#include "davit/embed/run_step.hpp"
#include "davit/embed/static_argument.hpp"
#include "davit/embed/static_assignment.hpp"

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
/// one arena. No heap, no registry. Runs on a device, on a host, and in static_assert.
template <class P, class... Backends>
class static_module {
  static_assert(StaticProgram<P>,
                "davit: static_module<Program, ...> needs a StaticProgram: name, tables, inputs, outputs; `davit "
                "embed` writes one");
  static_assert(sizeof...(Backends) > 0,
                "davit: static_module<Program, Backends...> needs at least one backend, such as davit::portable");
  static_assert((StaticBackend<typename static_face<Backends>::type> && ...),
                "davit: a backend of static_module is no StaticBackend: it needs name, Kernels and embed(node, steps), "
                "see davit/backend/embed_contract.hpp "
                "(for davit::portable, include davit/backends/portable/embed.hpp)");
  static_assert(P::inputs.size() == P::tables.inputs.size() && P::outputs.size() == P::tables.outputs.size(),
                "davit: a static program lists one StaticInput and one StaticOutput for each input and output of its graph");
  static_assert(detail::misfit_value<P>() == no_id,
                "davit: the value of this number has sizes that are not its number of elements, or more than a static program can have");
  static_assert(detail::misfit_input<P>() == no_id,
                "davit: the constant or state of this number does not have the elements that the program's graph says; embed the model again");
  using Planned = planned<P, typename static_face<Backends>::type...>;
  static constexpr auto problem_ = Planned::problem();
  static_assert(decltype(detail::in_parts<these_nodes_have_no_backend, problem_>())::none);
  using State = StaticState<Planned::sizes.state>;
  static constexpr std::size_t port_count = Planned::sizes.ports;
  using Memory = RunMemory<State, port_count>;
  using Code = detail::StepCode<P, Planned, std::tuple<typename static_face<Backends>::type...>,
                                std::tuple<typename static_face<Backends>::policy...>, Memory>;

 public:
  /// The program's name, and those of the backends, in order.
  static constexpr std::string_view name = P::name;
  static constexpr std::array<std::string_view, sizeof...(Backends)> backends{
      std::string_view(static_face<Backends>::type::name)...};
  /// Bytes of the arena: what intermediate values and scratch need at most.
  static constexpr std::size_t arena_bytes = Planned::sizes.arena_bytes;
  /// Bytes of mutable state (buffers).
  static constexpr std::size_t state_bytes = Planned::sizes.state.bytes();
  /// All the memory that a module writes: arena and state.
  static constexpr std::size_t ram_bytes = arena_bytes + state_bytes;
  /// Bytes of what the backends computed from constants (folded biases, multipliers).
  static constexpr std::size_t table_bytes =
      Planned::sizes.i8 + 2 * Planned::sizes.i16 + 4 * (Planned::sizes.i32 + Planned::sizes.f32);
  /// Bytes of constants that forward reads: the program's, and the backends' tables.
  static constexpr std::size_t weight_bytes = Planned::sizes.constant_bytes + table_bytes;
  /// How many kernel calls a forward makes.
  static constexpr std::size_t step_count = Planned::sizes.steps;
  // Functions, so that programs that do not ask do not wait for the answers.
  /// Per node (its debug handle), the index of the backend that it was given to; 255 if it is never computed.
  [[nodiscard]] static consteval const auto& backend_of() { return detail::StaticAssignment<Planned>::backend_of; }
  /// The partition of each node: nodes that follow one another on a backend share one; no_id for those never computed.
  [[nodiscard]] static consteval const auto& partition_of() { return detail::StaticAssignment<Planned>::partition_of; }
  /// The operators of the nodes that backends were given, sorted, each once.
  [[nodiscard]] static consteval const auto& operators() { return detail::StaticAssignment<Planned>::operators; }

  constexpr static_module() noexcept = default;

  /// Runs the program: user inputs in order, then user outputs in order, each a std::span of fixed extent, an array,
  /// nested arrays of the tensor's sizes or a StaticTensor. Another dtype, rank or extent does not compile. Arguments
  /// must not overlap. Errors: the code of the kernel that failed and its node's number as debug handle; state is then
  /// unchanged.
  template <class... Arguments>
  constexpr Status forward(Arguments&&... arguments) noexcept {
    static_assert(sizeof...(Arguments) == port_count,
                  "davit: forward takes the program's user inputs and then its user outputs, one argument each");
    if constexpr (sizeof...(Arguments) == port_count) {
      check<std::remove_reference_t<Arguments>...>(std::make_index_sequence<port_count>{});
      start();
      Fault fault;
      bool ok = false;
      if consteval {
        TypedArena arena(arena_bytes);
        Memory memory{&arena, &state_, {detail::first_element(arguments)...}};
        ok = Code::run(memory, fault);
      } else {
        Memory memory{arena_.data(), &state_, {detail::first_element(arguments)...}};
        ok = Code::run(memory, fault);
      }
      if (!ok) return std::unexpected(fault);
    }
    return {};
  }

  /// Gives the state its initial value.
  constexpr void reset() noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (reset_input<I>(), ...);
    }(std::make_index_sequence<P::inputs.size()>{});
  }
  /// The arena, for those who want to look at its use.
  [[nodiscard]] std::span<std::byte, arena_bytes> arena() noexcept {
    return std::span<std::byte, arena_bytes>(arena_.data(), arena_bytes);
  }

 private:
  static constexpr bool has_initial_state = [] {
    for (const StaticInput& input : P::inputs)
      if (input.role == StaticRole::state && input.data.place != ConstantData::Place::none) return true;
    return false;
  }();
  struct Nothing {};

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

  alignas(static_alignment) std::array<std::byte, arena_bytes> arena_;
  [[no_unique_address]] State state_{};
  [[no_unique_address]] std::conditional_t<has_initial_state, bool, Nothing> started_{};
};

}  // namespace davit
