// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowered/schedule.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/program/name_map.hpp"

namespace davit {

namespace detail {

/// Compares producer type and consumer type of every value that a schedule passes on.
class ScheduleChecker {
 public:
  ScheduleChecker(const ExportedProgram& parent, const MethodInterface& interface,
                  std::span<const MethodInterface* const> delegates, const Schedule& schedule, Stage stage)
      : parent_(parent),
        graph_(parent.view()),
        interface_(interface),
        delegates_(delegates),
        schedule_(schedule),
        stage_(stage) {}

  [[nodiscard]] Result<void> run() {
    find_types();
    for (std::size_t i = 0; i < interface_.inputs.size(); ++i)
      if (!passes(interface_.inputs[i].type, types_[schedule_.input_slots[i]]) ||
          (interface_.inputs[i].constant && interface_.inputs[i].type.tag == EValue::Tag::tensor))
        return mismatch(concat("input '", interface_.inputs[i].name, "'"));
    for (std::size_t i = 0; i < interface_.outputs.size(); ++i)
      if (!passes(types_[schedule_.output_slots[i]], interface_.outputs[i].type))
        return mismatch(concat("output '", interface_.outputs[i].name, "'"));
    if (std::optional<Name> wrong = constants()) return mismatch(concat("constant '", *wrong, "'"));
    for (const ScheduleStep& step : schedule_.steps)
      if (!fits(step))
        return mismatch(
            concat("node '", node_label(graph_, step.node), "' (", graph_.target(graph_.nodes[step.node]), ")"));
    return {};
  }

 private:
  [[nodiscard]] std::unexpected<Error> mismatch(Name where) const {
    const bool loads = stage_ == Stage::load;
    return std::unexpected(Error{.code = loads ? ErrorCode::corrupt_data : ErrorCode::invalid_program,
                                 .stage = stage_,
                                 .where = std::move(where),
                                 .what = "it is passed on as a value of another type",
                                 .fix = loads ? "lower and save the program again" : "export the program again"});
  }
  /// Finds the type of every slot: a value, a literal, or a buffer that moved into a partition.
  void find_types() {
    types_.resize(schedule_.slot_count);
    for (ValueId v = 0; v < graph_.values.size(); ++v) types_[v] = port_type(graph_, GraphBuilder::value(v));
    for (const Schedule::Literal& literal : schedule_.literals)
      types_[literal.slot] = port_type(graph_, literal.argument);
    const NameIndex state(interface_.inputs, [](const InputPort& port) {
      return port.role == InputRole::state ? port.target.view() : std::string_view();
    });
    for (const Schedule::MovedBuffer& buffer : schedule_.buffers)
      if (const std::size_t at = state.last(buffer.target);
          at != NameIndex::not_found && interface_.inputs[at].role == InputRole::state)
        types_[buffer.slot] = types_[buffer.result] = interface_.inputs[at].type;
  }
  [[nodiscard]] std::optional<Name> constants() const {
    const std::span<const std::uint32_t> in = schedule_.at(schedule_.graphs[root_graph].inputs);
    const std::vector<InputRole> roles = input_roles(parent_.signature);
    const TensorIndex tensors(parent_);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const InputSpec& spec = parent_.signature.input_specs[i];
      if (roles[i] != InputRole::constant) continue;
      const Tensor* tensor = tensors.find(*target(spec));
      if (tensor == nullptr ||
          !passes({.tag = EValue::Tag::tensor, .dtype = tensor->dtype, .dims = dims_of(*tensor)}, types_[in[i]]))
        return *target(spec);
    }
    return std::nullopt;
  }
  [[nodiscard]] static std::vector<Dim> dims_of(const Tensor& tensor) {
    std::vector<Dim> dims;
    for (const std::int64_t size : tensor.sizes) dims.push_back({.value = size});
    return dims;
  }

  /// True if a value of type `from` may be passed as `to`. Static sizes of `to` must be static and equal in `from`.
  [[nodiscard]] static bool passes(const PortType& from, const PortType& to) noexcept {
    return from.tag == to.tag && from.dtype == to.dtype && sizes_pass(from.dims, to.dims);
  }
  [[nodiscard]] static bool sizes_pass(std::span<const Dim> from, std::span<const Dim> to) noexcept {
    return std::ranges::equal(
        from, to, [](const Dim& f, const Dim& t) { return !t.is_static() || (f.is_static() && f.value == t.value); });
  }
  [[nodiscard]] bool pass(std::span<const std::uint32_t> from, std::span<const std::uint32_t> to) const {
    return std::ranges::equal(from, to, [&](std::uint32_t f, std::uint32_t t) { return passes(types_[f], types_[t]); });
  }
  /// Compares sub-graph outputs with the outputs of their node. Unused outputs of the node have no value and always
  /// pass.
  [[nodiscard]] bool pass_wanted(std::span<const std::uint32_t> made, std::span<const std::uint32_t> wanted) const {
    return std::ranges::equal(made, wanted, [&](std::uint32_t m, std::uint32_t w) {
      return w >= graph_.values.size() || passes(types_[m], types_[w]);
    });
  }
  /// Removes dimension `dim` from a tensor type and returns it; nullopt if there is no such dimension.
  [[nodiscard]] static std::optional<Dim> take_dim(PortType& type, std::int64_t dim) {
    const auto rank = static_cast<std::int64_t>(type.dims.size());
    if (dim < 0) dim += rank;
    if (type.tag != EValue::Tag::tensor || dim < 0 || dim >= rank) return std::nullopt;
    const auto at = type.dims.begin() + static_cast<std::ptrdiff_t>(dim);
    const Dim taken = *at;
    type.dims.erase(at);
    return taken;
  }

  [[nodiscard]] bool fits(const ScheduleStep& step) const {
    const std::span<const std::uint32_t> in = schedule_.at(step.inputs);
    const std::span<const std::uint32_t> out = schedule_.at(step.outputs);
    const auto inputs_of = [&](GraphId g) { return schedule_.at(schedule_.graphs[g].inputs); };
    const auto outputs_of = [&](GraphId g) { return schedule_.at(schedule_.graphs[g].outputs); };
    switch (step.kind) {
      case StepKind::call_delegate: {
        const MethodInterface& interface = *delegates_[step.delegate];
        const auto takes = [&](std::uint32_t slot, const InputPort& port) { return passes(types_[slot], port.type); };
        const auto gives = [&](const OutputPort& port, std::uint32_t slot) { return passes(port.type, types_[slot]); };
        return std::ranges::equal(in, interface.inputs, takes) && std::ranges::equal(interface.outputs, out, gives);
      }
      case StepKind::cond:
        for (const GraphId branch : {step.graph, step.other})
          if (!pass(in.subspan(1), inputs_of(branch)) || !pass_wanted(outputs_of(branch), out)) return false;
        return true;
      case StepKind::while_loop:
        if (step.carried > in.size() || !pass(in, inputs_of(step.graph)) || !pass(in, inputs_of(step.other)))
          return false;
        for (const GraphId next : {step.graph, step.other})
          if (!pass(outputs_of(step.other), inputs_of(next).first(step.carried))) return false;
        return pass_wanted(in.first(step.carried), out) && pass_wanted(outputs_of(step.other), out);
      case StepKind::map:
      case StepKind::scan: return fits_scan(step, in, out, inputs_of(step.graph), outputs_of(step.graph));
    }
    return false;
  }
  [[nodiscard]] bool fits_scan(const ScheduleStep& step, std::span<const std::uint32_t> in,
                               std::span<const std::uint32_t> out, std::span<const std::uint32_t> body_in,
                               std::span<const std::uint32_t> body_out) const {
    const std::size_t first = step.carried;
    const std::size_t last = first + step.sliced;
    if (last > in.size() || in.size() != body_in.size() || out.size() != body_out.size() || first > out.size() ||
        first == last)
      return false;
    Dim count{};
    for (std::size_t i = last; i-- > first;) {
      PortType slice = types_[in[i]];
      const std::optional<Dim> length = take_dim(slice, step.dim);
      if (!length || !passes(slice, types_[body_in[i]])) return false;
      count = *length;
    }
    for (std::size_t i = first; i < out.size(); ++i) {
      if (out[i] >= graph_.values.size()) continue;
      PortType stacked = types_[body_out[i]];
      stacked.dims.insert(stacked.dims.begin(), count);
      if (stacked.tag != EValue::Tag::tensor || !passes(stacked, types_[out[i]])) return false;
    }
    const auto next = body_in.first(first);
    return pass(in.first(first), next) && pass(in.subspan(last), body_in.subspan(last)) &&
           pass(body_out.first(first), next) && pass_wanted(body_out.first(first), out.first(first));
  }

  const ExportedProgram& parent_;
  GraphModuleView graph_;
  const MethodInterface& interface_;
  std::span<const MethodInterface* const> delegates_;
  const Schedule& schedule_;
  Stage stage_;
  std::vector<PortType> types_;
};

}  // namespace detail

/// Checks the types of all values that a lowered program passes on: between caller, partitions, control flow and
/// sub-graphs.
///
/// Kind, dtype, rank and static sizes must be the same at both ends, because kernels trust the static sizes of their
/// graph. Errors name the place and have the given stage: corrupt_data at load, else invalid_program. O(n log n) for a
/// parent and an interface of size n.
[[nodiscard]] inline Result<void> check_schedule(const ExportedProgram& parent, const MethodInterface& interface,
                                                 std::span<const MethodInterface* const> delegates,
                                                 const Schedule& schedule, Stage stage) {
  return detail::ScheduleChecker(parent, interface, delegates, schedule, stage).run();
}

}  // namespace davit
