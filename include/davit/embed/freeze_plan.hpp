// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "davit/embed/control_flow.hpp"
#include "davit/embed/report_text.hpp"
#include "davit/embed/static_memory.hpp"
#include "davit/embed/static_plan.hpp"
#include "davit/embed/static_program.hpp"

namespace davit {

/// The sizes of a frozen plan's tables.
struct PlanSizes {
  // explicit zeros, see StatePools::counts
  std::size_t steps = 0, operands = 0, params = 0, ports = 0, copies = 0, i8 = 0, i16 = 0, i32 = 0, f32 = 0, blocks = 0,
              problem = 0;
  std::size_t width = 0;     ///< the most operands of a step
  std::size_t controls = 0;  ///< control steps
  std::uint32_t arena_bytes = 0, constant_bytes = 0;
  StatePools state{};

  /// True if each size is at most `room`'s.
  [[nodiscard]] constexpr bool fits(const PlanSizes& room) const noexcept {
    return steps <= room.steps && operands <= room.operands && params <= room.params && ports <= room.ports &&
           copies <= room.copies && i8 <= room.i8 && i16 <= room.i16 && i32 <= room.i32 && f32 <= room.f32 &&
           blocks <= room.blocks && problem == 0;
  }
};

/// An operand as one number, a cheap template argument. Never 0.
[[nodiscard]] constexpr std::uint64_t operand_code(const StaticOperand& o) noexcept {
  return static_cast<std::uint64_t>(o.offset) << 32 | (static_cast<std::uint64_t>(o.place) + 0) << 16 |
         static_cast<std::uint64_t>(o.dtype) << 8 | 2u | o.writable;
}

/// Kernel numbers from here on stand for a StaticControl.
inline constexpr std::uint32_t control_kernels = std::uint32_t{detail::control_flow::marker} << 16;

/// A step of a frozen plan.
struct FrozenStep {
  std::uint32_t kernel = 0;  ///< backend << 16 | index in its Kernels; from control_kernels on a StaticControl
  std::uint32_t first_operand = 0;
  std::uint32_t operand_count = 0;
  std::uint32_t first_param = 0;
  std::uint32_t param_count = 0;
  NodeId node = no_id;
};

/// A plan as arrays. The arrays of a first planning run have room to spare.
template <PlanSizes n, std::size_t Nodes, std::size_t Inputs, bool HasBytes = false>
struct FrozenPlan {
  PlanSizes sizes;
  FrozenStep steps[n.steps + 1];
  std::uint64_t codes[n.operands + 1];
  std::uint32_t bytes[HasBytes ? n.operands + 1 : 1];  ///< per operand, for cache-maintaining backends
  std::int32_t params[n.params + 1];
  StaticPort ports[n.ports + 1];
  StaticCopy copies[n.copies + 1];
  Lifetime lifetimes[n.blocks + 1];  ///< of the arena's blocks
  std::uint32_t offsets[n.blocks + 1];
  std::int8_t i8[n.i8 + 1];
  std::int16_t i16[n.i16 + 1];
  std::int32_t i32[n.i32 + 1];
  float f32[n.f32 + 1];
  std::uint8_t backend_of[Nodes + 1];  ///< per node of the program
  std::uint32_t state_offset[Inputs + 1];
  std::uint8_t is_read[Inputs + 1];
};

/// The template arguments of the steps' code, per step.
template <std::size_t Steps, std::size_t Width, std::size_t Jumps>
struct StepRows {
  static constexpr std::size_t width = Width;

  std::uint32_t kernels[Steps + 1];
  std::uint32_t params[Steps + 1];
  std::uint32_t counts[Steps + 1];
  NodeId nodes[Steps + 1];
  std::uint32_t like[Steps + 1];           ///< the first equal step among itself and some steps before
  std::uint64_t codes[Steps * Width + 1];  ///< of step i from i * Width; 0 behind the last operand
  std::uint32_t jumps[Jumps + 1];          ///< with control flow, per step of a branch or loop: its next part

  [[nodiscard]] constexpr StaticControl control(std::size_t step) const noexcept {
    return kernels[step] < control_kernels ? StaticControl::none
                                           : static_cast<StaticControl>(kernels[step] - control_kernels);
  }
  /// Finds `jumps`.
  constexpr void join() {
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < Jumps; ++i) {
      const StaticControl c = control(i);
      const bool begins = c == StaticControl::branch || c == StaticControl::loop || c == StaticControl::count;
      if (c == StaticControl::none || c == StaticControl::nothing) continue;
      if (!begins) jumps[open.back()] = i;
      if (c == StaticControl::join || c == StaticControl::repeat)
        open.pop_back();
      else if (begins)
        open.push_back(i);
      else
        open.back() = i;
    }
  }
  /// Finds `like[step]`, after those of all earlier steps.
  constexpr void compare(std::size_t step) noexcept {
    like[step] = static_cast<std::uint32_t>(step);
    for (std::size_t i = step; i-- > 0 && i + 8 >= step;) {
      if (kernels[i] != kernels[step] || params[i] != params[step] || counts[i] != counts[step]) continue;
      std::size_t k = 0;
      while (k < counts[i] && codes[i * Width + k] == codes[step * Width + k]) ++k;
      if (k < counts[i]) continue;
      like[step] = like[i];
      return;
    }
  }
};

namespace detail {

constexpr void append_text(std::vector<char>& out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

/// Lists all reasons why a plan cannot be made; empty if it can.
template <class... Bs>
constexpr std::vector<char> problems_of(const PlannedProgram& plan, const StaticGraph& graph) {
  constexpr std::array<std::string_view, sizeof...(Bs)> names{std::string_view(Bs::name)...};
  std::vector<char> out;
  const auto node_name = [&](NodeId n) {
    if (!out.empty()) append_text(out, "; ");
    if (const ValueId v = graph.first_output(n); v != no_id) append_text(out, graph.name(v));
    append_text(out, " = ");
    append_text(out, graph.target(n));
  };
  const SelectedSteps& s = plan.selected;
  for (std::size_t i = s.orphans.size(); i-- > 0;) {
    node_name(s.orphans[i].node);
    append_text(out, " (");
    for (std::size_t b = 0; b < names.size(); ++b) {
      if (b != 0) append_text(out, ", ");
      append_text(out, names[b]);
      append_text(out, ": ");
      const char* reason = s.orphans[i].reasons[b];
      append_text(out, reason != nullptr ? std::string_view(reason)
                                         : std::string_view("takes it, but stands after the one that should"));
    }
    append_text(out, ")");
  }
  for (std::size_t i = s.unwritten.size(); i-- > 0;) {
    node_name(s.unwritten[i]);
    append_text(out, " (");
    append_text(out, names[s.backend_of[s.unwritten[i]]]);
    append_text(out, " writes no step for an output of it)");
  }
  return out;
}

/// The parameters of kernel K, decoded from int32.
template <class K>
constexpr typename K::Params params_from(const std::int32_t* from) {
  using Params = typename K::Params;
  if constexpr (std::is_empty_v<Params>) {
    return Params{};
  } else {
    std::array<std::int32_t, sizeof(Params) / 4> encoded{};
    std::int32_t* const to = encoded.data();
    for (std::size_t i = 0; i < sizeof(Params) / 4; ++i) to[i] = from[i];
    if constexpr (requires { K::decode(encoded); })
      return K::decode(encoded);
    else
      return std::bit_cast<Params>(encoded);
  }
}

template <class T>
constexpr void copy_to(T* to, const Table<T>& from) noexcept {
  const T* source = from.data();
  for (const T* const end = source + from.size(); source != end; ++source) *to++ = *source;
}

/// The bytes of an operand that is a value or a temporary; 0 for others.
constexpr std::uint32_t operand_bytes(const StepTables& t, const StaticGraph& graph, const StepOperand& o) noexcept {
  std::int64_t count = 0;
  if (o.kind == StepOperand::Kind::output || o.kind == StepOperand::Kind::input) count = graph.values[o.id].numel;
  if (o.kind == StepOperand::Kind::temporary) count = t.temporaries[o.id].count;
  return static_cast<std::uint32_t>(count) * static_cast<std::uint32_t>(size_of(o.dtype));
}

/// The index of a kernel in its backend's list; `Kernels::size` if it is missing.
template <class... Bs>
constexpr std::uint16_t kernel_index(std::uint8_t backend, KernelId id) noexcept {
  std::uint16_t found = 0;
  std::uint8_t at = 0;
  const auto search = [&]<class B>() {
    if (at++ != backend) return;
    while (found < B::Kernels::ids.size() && B::Kernels::ids[found] != id) ++found;
  };
  (search.template operator()<Bs>(), ...);
  return found;
}

}  // namespace detail

/// The plan of a program on these backends (their static faces), with inputs and outputs in the arena or not. Planning
/// runs once if the plan fits the estimated sizes, else twice.
template <class P, bool InArena, class... Bs>
struct planned_for {
  static constexpr StaticGraph graph = P::tables.view();
  static constexpr std::size_t node_count = P::tables.nodes.size();
  static constexpr std::size_t input_count = P::inputs.size();

  static constexpr PlannedProgram make() {
    return plan_static<Bs...>(graph, P::inputs.data(), P::outputs.data(), InArena);
  }

  [[nodiscard]] static constexpr PlanSizes sizes_of(const PlannedProgram& p) {
    const StepTables& t = p.selected.tables;
    PlanSizes n{};
    n.problem =
        p.selected.orphans.empty() && p.selected.unwritten.empty() ? 0 : detail::problems_of<Bs...>(p, graph).size();
    if (n.problem != 0) return n;
    n.steps = t.steps.size();
    n.operands = p.operands.size();
    n.params = t.params.size();
    n.ports = p.ports.size();
    n.copies = p.copies.size();
    n.i8 = t.tables.i8.size();
    n.i16 = t.tables.i16.size();
    n.i32 = t.tables.i32.size();
    n.f32 = t.tables.f32.size();
    n.blocks = p.offsets.size();
    for (const StaticStep& s : t.steps) {
      n.width = std::max<std::size_t>(n.width, s.operands.count);
      n.controls += s.control != StaticControl::none ? 1 : 0;
    }
    n.arena_bytes = p.arena_bytes;
    n.constant_bytes = p.constant_bytes;
    n.state = p.state;
    return n;
  }
  /// An estimate of the plan's sizes.
  static constexpr PlanSizes room = [] {
    PlanSizes n{};
    std::size_t numbers = 64;
    for (const StaticInput& input : P::inputs)
      numbers += input.sum_count + (input.data.is_array() && input.data.count < 1024 ? input.data.count : 0);
    n.steps = 2 * node_count + 16;
    n.operands = 8 * node_count + 64;
    n.params = 24 * node_count + 64;
    n.ports = n.copies = input_count + P::outputs.size() + 8;
    n.blocks = 2 * node_count + 16;
    n.i8 = n.i16 = n.f32 = numbers;
    n.i32 = 4 * numbers;
    return n;
  }();

  static constexpr bool has_bytes = (MaintainsCache<Bs> || ...);
  template <PlanSizes n>
  static consteval FrozenPlan<n, node_count, input_count, has_bytes> freeze_into() {
    FrozenPlan<n, node_count, input_count, has_bytes> all{};
    const PlannedProgram p = make();
    all.sizes = sizes_of(p);
    if (!all.sizes.fits(n)) return all;
    const StepTables& t = p.selected.tables;
    for (std::size_t i = 0; i < all.sizes.steps; ++i) {
      const StaticStep& s = t.steps[i];
      all.steps[i] = {s.control != StaticControl::none
                          ? control_kernels + static_cast<std::uint32_t>(s.control)
                          : static_cast<std::uint32_t>(s.backend) << 16 |
                                detail::kernel_index<Bs..., detail::control_flow>(s.backend, s.kernel),
                      s.operands.first,
                      s.operands.count,
                      s.params.first,
                      s.params.count,
                      s.node};
    }
    for (std::size_t i = 0; i < all.sizes.operands; ++i) all.codes[i] = operand_code(p.operands[i]);
    for (std::size_t i = 0; has_bytes && i < all.sizes.operands; ++i)
      all.bytes[i] = detail::operand_bytes(t, graph, t.operands[i]);
    detail::copy_to(all.params, t.params);
    detail::copy_to(all.ports, p.ports);
    detail::copy_to(all.copies, p.copies);
    detail::copy_to(all.lifetimes, p.lifetimes);
    detail::copy_to(all.offsets, p.offsets);
    detail::copy_to(all.backend_of, p.selected.backend_of);
    detail::copy_to(all.state_offset, p.state_offset);
    detail::copy_to(all.is_read, p.is_read);
    detail::copy_to(all.i8, t.tables.i8);
    detail::copy_to(all.i16, t.tables.i16);
    detail::copy_to(all.i32, t.tables.i32);
    detail::copy_to(all.f32, t.tables.f32);
    return all;
  }
  static constexpr auto first_run = freeze_into<room>();
  static constexpr PlanSizes sizes = first_run.sizes;
  static consteval const auto& run_again() {
    if constexpr (sizes.problem != 0 || sizes.fits(room)) {
      return first_run;
    } else {
      return second_run<0>;
    }
  }
  template <int>
  static constexpr auto second_run = freeze_into<sizes>();
  static constexpr const auto& frozen = run_again();

  static consteval auto problem() {
    ReportText<sizes.problem + 1> text;
    if constexpr (sizes.problem != 0) {
      const std::vector<char> made = detail::problems_of<Bs...>(make(), graph);
      for (std::size_t i = 0; i < sizes.problem; ++i) text.text[i] = made[i];
    }
    return text;
  }

  static_assert(sizes.width <= 12, "davit: a backend wrote a step with more than 12 operands");
  static constexpr auto rows = [] {
    StepRows<sizes.steps, (sizes.width <= 4 ? 4 : 12), (sizes.controls != 0 ? sizes.steps : 0)> r{};
    for (std::size_t i = 0; i < sizes.steps; ++i) {
      const FrozenStep& s = frozen.steps[i];
      r.kernels[i] = s.kernel;
      r.params[i] = s.first_param;
      r.counts[i] = s.operand_count;
      r.nodes[i] = s.node;
      for (std::size_t k = 0; k < s.operand_count; ++k) r.codes[i * r.width + k] = frozen.codes[s.first_operand + k];
      r.compare(i);
    }
    r.join();
    return r;
  }();

  /// A table of numbers that backends computed, one object per type, so that an image holds only those that are read.
  template <class T>
  [[nodiscard]] static constexpr const T* table() noexcept {
    if constexpr (std::is_same_v<T, std::int8_t>)
      return i8_table.data();
    else if constexpr (std::is_same_v<T, std::int16_t>)
      return i16_table.data();
    else if constexpr (std::is_same_v<T, std::int32_t>)
      return i32_table.data();
    else
      return f32_table.data();
  }

  /// The parameters of kernel K from that word on.
  template <class K, std::uint32_t First>
  static constexpr typename K::Params params = detail::params_from<K>(frozen.params + First);

 private:
  template <class T, std::size_t N, class Source>
  static consteval std::array<T, N> table_of(const Source& source) {
    std::array<T, N> out{};
    for (std::size_t i = 0; i < N; ++i) out[i] = source[i];
    return out;
  }
  alignas(16) static constexpr auto i8_table = table_of<std::int8_t, sizes.i8>(frozen.i8);
  alignas(16) static constexpr auto i16_table = table_of<std::int16_t, sizes.i16>(frozen.i16);
  alignas(16) static constexpr auto i32_table = table_of<std::int32_t, sizes.i32>(frozen.i32);
  alignas(16) static constexpr auto f32_table = table_of<float, sizes.f32>(frozen.f32);
};
template <class P, class... Bs>
using planned = planned_for<P, false, Bs...>;

}  // namespace davit
