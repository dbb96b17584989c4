// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
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
#include "davit/embed/static_state.hpp"

namespace davit {

/// The compiler's message about nodes that no backend takes: `Nodes` lists each as "name = operator (backend: reason,
/// ...)".
template <auto... Nodes>
struct these_nodes_have_no_backend {
  static constexpr bool none = sizeof...(Nodes) == 0;
  static_assert(none,
                "davit: the static_module's program has nodes that no backend takes (the line with "
                "these_nodes_have_no_backend lists them); "
                "name a backend that takes them, `portable` for most");
};

/// The mistake in an argument of a static module's function.
enum class ArgumentFault : std::uint8_t { no_tensor, dtype, constant, rank, sizes };

namespace detail {
/// The first argument of a template, with its own type.
template <auto First, auto...>
inline constexpr auto first_of = First;
}  // namespace detail

/// The compiler's message about an argument that does not fit: after the fault, the argument, the wanted and the given
/// type: "argument 0, input 'x': float32[1, 64] (64 elements) is wanted, float32[65] is given".
template <auto... Argument>
struct this_argument_does_not_fit {
  static constexpr ArgumentFault fault = detail::first_of<Argument...>;
  static_assert(fault != ArgumentFault::no_tensor,
                "davit: an argument of forward is no tensor of fixed extent; pass a std::span<T, N>, an array, or a "
                "davit::StaticTensor");
  static_assert(fault != ArgumentFault::dtype,
                "davit: an argument of forward has another element type than the program's tensor");
  static_assert(fault != ArgumentFault::constant,
                "davit: an argument of forward is const, but forward writes it (an output, or an input that the "
                "program mutates)");
  static_assert(fault != ArgumentFault::rank,
                "davit: an argument of forward has another rank than the program's tensor");
  static_assert(fault != ArgumentFault::sizes,
                "davit: an argument of forward has other sizes than the program's tensor (the line with "
                "this_argument_does_not_fit names both)");
  static constexpr bool none = false;
};

/// One method of a static_module: its facts at compile time, and its code. `Settings` are the module's.
template <class P, class Settings>
class static_method {
  static_assert(StaticProgram<P>,
                "davit: static_module<Program, ...> needs a StaticProgram: name, tables, inputs, outputs; `davit "
                "embed` writes one");
  static_assert(
      P::inputs.size() == P::tables.inputs.size() && P::outputs.size() == P::tables.outputs.size(),
      "davit: a static program lists one StaticInput and one StaticOutput for each input and output of its graph");
  static_assert(detail::value_with_wrong_sizes<P>() == no_id,
                "davit: the value of this number has sizes that are not its number of elements, or more than a static "
                "program can have");
  static_assert(detail::input_with_wrong_data<P>() == no_id,
                "davit: the constant or state of this number does not have the elements that the program's graph says; "
                "embed the model again");
  using Planned = typename Settings::template with_backends<planned_for, P, Settings::has_tensors>;
  static constexpr auto problem_ = Planned::problem();
  static_assert(decltype(detail::in_parts<these_nodes_have_no_backend, problem_>())::none);

 public:
  using program = P;
  static constexpr std::size_t arena_bytes = Planned::sizes.arena_bytes;
  /// Bytes of values that the backends computed from constants (folded biases, multipliers).
  static constexpr std::size_t table_bytes =
      Planned::sizes.i8 + 2 * Planned::sizes.i16 + 4 * (Planned::sizes.i32 + Planned::sizes.f32);
  /// Bytes of constants that the method reads: the program's, and the backends' tables.
  static constexpr std::size_t weight_bytes = Planned::sizes.constant_bytes + table_bytes;
  /// The kernel calls of a run, each counted once.
  static constexpr std::size_t step_count = Planned::sizes.steps - Planned::sizes.controls;
  /// The method's state: its own, or the first elements of the module's.
  static constexpr StatePools state_pools = Planned::sizes.state;
  // functions, so that programs that do not call them save compile time
  [[nodiscard]] static consteval const auto& backend_of() { return detail::StaticAssignment<Planned>::backend_of; }
  [[nodiscard]] static consteval const auto& partition_of() { return detail::StaticAssignment<Planned>::partition_of; }
  [[nodiscard]] static consteval const auto& operators() { return detail::StaticAssignment<Planned>::operators; }

  /// The number of tensors of a call.
  static constexpr std::size_t argument_count = Settings::has_tensors ? 0 : Planned::sizes.ports;

  /// True if a device runs a step.
  static constexpr bool has_device = detail::DeviceRows<Planned, typename Settings::StaticBackends>::any;
  /// True if such a device reads and writes memory behind the CPU's cache.
  static constexpr bool maintains_cache = Planned::has_bytes;

  /// The memory of a run in `arena`, on tensors with checked types.
  template <class Memory, class State, class... Arguments>
  [[nodiscard, gnu::always_inline]] static constexpr Memory memory_of(typename Memory::Arena arena, State& state,
                                                                      Arguments&... arguments) {
    check<Arguments...>(std::make_index_sequence<argument_count>{});
    return Memory{arena, &state, {detail::first_element(arguments)...}};
  }
  /// The code of the steps: to the end, or with stops at a device's commands.
  template <class Memory, std::uint32_t first_call>
  using Code = detail::StepCode<P, Planned, typename Settings::StaticBackends, typename Settings::Policies, Memory,
                                typename Settings::Hook, first_call>;
  template <class Memory, std::uint32_t first_call>
  using DeviceCode = detail::DeviceCode<P, Planned, typename Settings::StaticBackends, typename Settings::Policies,
                                        Memory, typename Settings::Hook, first_call>;

  /// Runs the steps in an arena of arena_bytes, and waits for devices.
  template <class Memory, std::uint32_t first_call, class State, class... Arguments>
  static constexpr Status run(std::byte* arena, State& state, Arguments&... arguments) noexcept {
    Fault fault;
    bool ok = false;
    if consteval {
      TypedArena typed(arena_bytes);
      Memory memory = memory_of<Memory>(&typed, state, arguments...);
      ok = run_all<first_call>(memory, fault);
    } else {
      Memory memory = memory_of<Memory>(arena, state, arguments...);
      ok = run_all<first_call>(memory, fault);
    }
    if (!ok) return std::unexpected(fault);
    return {};
  }

  /// Calls `visit` with each constant that a step reads.
  template <class Visit>
  static constexpr void for_each_constant(Visit&& visit) {
    for (std::size_t i = 0; i < P::inputs.size(); ++i)
      if (Planned::frozen.is_read[i] != 0) visit(P::inputs[i].data);
  }

  /// The number of inputs that are state, and their rows, in order.
  static constexpr std::size_t state_count = [] {
    std::size_t count = 0;
    for (const StaticInput& input : P::inputs) count += input.role == StaticRole::state ? 1 : 0;
    return count;
  }();
  static constexpr std::array<StaticStateRow, state_count> state_rows = [] {
    std::array<StaticStateRow, state_count> rows{};
    for (std::uint32_t i = 0, n = 0; i < P::inputs.size(); ++i) {
      if (P::inputs[i].role != StaticRole::state) continue;
      const StaticValue& value = Planned::graph.values[Planned::graph.inputs[i]];
      rows[n++] = {i, Planned::frozen.state_offset[i], static_cast<std::uint32_t>(value.numel), value.dtype,
                   P::inputs[i].data};
    }
    return rows;
  }();
  /// Gives the state of that row its initial value.
  template <std::size_t Row, class State>
  static constexpr void reset(State& state) noexcept {
    constexpr StaticStateRow row = state_rows[Row];
    using T = element_of<row.dtype>;
    T* to = state.template of<T>() + row.first;
    if constexpr (row.data.place == ConstantData::Place::none) {
      std::fill_n(to, row.count, T{});
    } else if constexpr (row.data.place == ConstantData::Place::array) {
      std::copy_n(row.data.template as<T>(), row.count, to);
    } else {
      __builtin_memcpy(to, P::weights() + row.data.offset, row.data.bytes());
    }
  }

  /// User input (output) I in an arena at `base`, with tensors_in_arena.
  template <std::size_t I, bool is_output>
  [[nodiscard]] static auto tensor(std::byte* base) noexcept {
    constexpr std::size_t at = port_of(I, is_output);
    static_assert(at < Planned::sizes.ports, "davit: the program has no user input or output of that number");
    constexpr StaticPort port = Planned::frozen.ports[at];
    constexpr StaticValue value = Planned::graph.values[port.value];
    using T = element_of<value.dtype>;
    return std::span<T, static_cast<std::size_t>(value.numel)>(reinterpret_cast<T*>(base + port.offset), value.numel);
  }

 private:
  template <std::uint32_t first_call, class Memory>
  [[gnu::always_inline]] static constexpr bool run_all(Memory& memory, Fault& fault) {
    if constexpr (!has_device) {
      return Code<Memory, first_call>::run(memory, fault);
    } else {
      using Steps = DeviceCode<Memory, first_call>;
      detail::RunProgress progress{.state = RunState::running};
      while (true) {
        Steps::advance(memory, progress);
        if (progress.state != RunState::waiting) break;
        Steps::wait(progress);
      }
      fault = progress.fault;
      return progress.state == RunState::done;
    }
  }
  /// The port of the I-th input or output; the number of ports if there is none.
  static consteval std::size_t port_of(std::size_t i, bool is_output) {
    std::size_t port = 0;
    while (port < Planned::sizes.ports && ((Planned::frozen.ports[port].is_output != 0) != is_output || i-- != 0))
      ++port;
    return port;
  }
  template <std::size_t I, class A>
  static consteval void check_one() {
    constexpr StaticPort port = Planned::frozen.ports[I];
    constexpr StaticValue value = Planned::graph.values[port.value];
    constexpr ArgumentShape shape = argument_shape<A>;
    if constexpr (constexpr int fault = fault_of(shape, port, value); fault >= 0) {
      constexpr auto whole = argument_text<I, A>();
      constexpr auto text = detail::text_part<whole, 0, std::string_view(whole.text).size()>();
      static_assert(
          decltype(detail::in_parts<this_argument_does_not_fit, text, 0, static_cast<ArgumentFault>(fault)>())::none);
    }
  }
  /// The number of an ArgumentFault, or -1.
  static constexpr int fault_of(const ArgumentShape& shape, const StaticPort& port, const StaticValue& value) noexcept {
    const bool is_written = port.is_output != 0 || port.is_mutated != 0;
    if (!shape.known) return static_cast<int>(ArgumentFault::no_tensor);
    if (shape.dtype != value.dtype) return static_cast<int>(ArgumentFault::dtype);
    if (!shape.writable && is_written) return static_cast<int>(ArgumentFault::constant);
    if (!shape.is_flat && shape.rank != value.rank) return static_cast<int>(ArgumentFault::rank);
    return fits(shape, value) ? -1 : static_cast<int>(ArgumentFault::sizes);
  }
  /// The text of this_argument_does_not_fit.
  template <std::size_t I, class A>
  static consteval auto argument_text() {
    const StaticPort port = Planned::frozen.ports[I];
    const StaticValue value = Planned::graph.values[port.value];
    const ArgumentShape shape = argument_shape<A>;
    ReportText<300> out;
    std::size_t at = 0;
    const auto say = [&](std::string_view text) {
      for (const char c : text)
        if (at < out.size()) out.text[at++] = c;
    };
    const auto number = [&](std::int64_t n) {
      char digits[20];
      std::size_t count = 0;
      do digits[count++] = static_cast<char>('0' + n % 10);
      while ((n /= 10) != 0);
      while (count > 0) say({&digits[--count], 1});
    };
    const auto tensor = [&](ScalarType dtype, const std::int64_t* sizes, std::size_t rank) {
      say(name_of(dtype));
      say("[");
      for (std::size_t d = 0; d < rank; ++d) {
        if (d != 0) say(", ");
        number(sizes[d]);
      }
      say("]");
    };
    say("argument ");
    number(I);
    say(port.is_output != 0 ? ", output '" : ", input '");
    say(value.name);
    say("': ");
    tensor(value.dtype, Planned::graph.sizes + value.first_size, value.rank);
    say(" (");
    number(value.numel);
    say(" elements) is wanted, ");
    if (shape.known) {
      if (!shape.writable) say("const ");
      tensor(shape.dtype, shape.sizes.data(), shape.rank);
      say(" is given");
    } else {
      say("no tensor of fixed extent is given");
    }
    return out;
  }
  static constexpr bool fits(const ArgumentShape& shape, const StaticValue& value) noexcept {
    if (shape.is_flat) return shape.sizes[0] == value.numel;
    if (shape.rank != value.rank) return true;  // reported already
    for (std::size_t d = 0; d < value.rank; ++d)
      if (shape.sizes[d] != Planned::graph.sizes[value.first_size + d]) return false;
    return true;
  }
  template <class... As, std::size_t... I>
  static consteval void check(std::index_sequence<I...>) {
    (check_one<I, As>(), ...);
  }
};

}  // namespace davit
