// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/partitioning.hpp"
#include "davit/lowering/schedule.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/program/name_map.hpp"

namespace davit {

namespace detail {

/// Compares the types at both ends of everything that a schedule passes on.
class ScheduleChecker {
 public:
  ScheduleChecker(const ExportedProgram& parent, const MethodInterface& interface,
                  std::span<const MethodInterface* const> delegates, const Schedule& schedule)
      : parent_(parent), graph_(parent.view()), interface_(interface), delegates_(delegates), schedule_(schedule) {}

  [[nodiscard]] Result<void> run() {
    find_types();
    for (std::size_t i = 0; i < interface_.inputs.size(); ++i)
      if (!agree(interface_.inputs[i].type, types_[schedule_.input_slots[i]]) ||
          (interface_.inputs[i].constant && interface_.inputs[i].type.tag == EValue::Tag::tensor))
        return mismatch(concat("input '", interface_.inputs[i].name, "'"));
    for (std::size_t i = 0; i < interface_.outputs.size(); ++i)
      if (!agree(interface_.outputs[i].type, types_[schedule_.output_slots[i]]))
        return mismatch(concat("output '", interface_.outputs[i].name, "'"));
    if (std::optional<Name> wrong = constants()) return mismatch(concat("constant '", *wrong, "'"));
    for (const ScheduleStep& step : schedule_.steps)
      if (!fits(step))
        return mismatch(
            concat("node '", node_label(graph_, step.node), "' (", graph_.target(graph_.nodes[step.node]), ")"));
    return {};
  }

 private:
  [[nodiscard]] static std::unexpected<Error> mismatch(Name where) {
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .stage = Stage::load,
                                 .where = std::move(where),
                                 .what = "its type is not the one that it is passed on with",
                                 .fix = "lower and save the program again"});
  }
  /// The type of every slot: of a value, a literal, or a buffer that a partition took along.
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
          !agree({.tag = EValue::Tag::tensor, .dtype = tensor->dtype, .dims = dims_of(*tensor)}, types_[in[i]]))
        return *target(spec);
    }
    return std::nullopt;
  }
  [[nodiscard]] static std::vector<Dim> dims_of(const Tensor& tensor) {
    std::vector<Dim> dims;
    for (const std::int64_t size : tensor.sizes) dims.push_back({.value = size});
    return dims;
  }

  /// Sizes that are both known must be equal.
  [[nodiscard]] static bool agree(const PortType& a, const PortType& b) noexcept {
    return a.tag == b.tag && a.dtype == b.dtype && a.dims.size() == b.dims.size() && sizes_agree(a.dims, b.dims);
  }
  [[nodiscard]] static bool sizes_agree(std::span<const Dim> a, std::span<const Dim> b) noexcept {
    for (std::size_t d = 0; d < a.size(); ++d)
      if (a[d].is_static() && b[d].is_static() && a[d].value != b[d].value) return false;
    return true;
  }
  [[nodiscard]] bool agree(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) const {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!agree(types_[a[i]], types_[b[i]])) return false;
    return true;
  }
  /// What goes out of a sub-graph to the outputs of its node; one that nobody wants has no value.
  [[nodiscard]] bool agree_wanted(std::span<const std::uint32_t> made, std::span<const std::uint32_t> wanted) const {
    if (made.size() != wanted.size()) return false;
    for (std::size_t i = 0; i < made.size(); ++i)
      if (wanted[i] < graph_.values.size() && !agree(types_[made[i]], types_[wanted[i]])) return false;
    return true;
  }
  template <class Port>
  [[nodiscard]] bool agree_ports(const std::vector<Port>& ports, std::span<const std::uint32_t> slots) const {
    if (ports.size() != slots.size()) return false;
    for (std::size_t i = 0; i < ports.size(); ++i)
      if (!agree(ports[i].type, types_[slots[i]])) return false;
    return true;
  }
  /// True if `row` is a slice of `whole` along `dim`.
  [[nodiscard]] static bool is_row(const PortType& row, const PortType& whole, std::int64_t dim) {
    const auto rank = static_cast<std::int64_t>(whole.dims.size());
    if (dim < 0) dim += rank;
    if (row.tag != EValue::Tag::tensor || whole.tag != row.tag || row.dtype != whole.dtype || dim < 0 || dim >= rank)
      return false;
    std::vector<Dim> rest = whole.dims;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(dim));
    return rest.size() == row.dims.size() && sizes_agree(rest, row.dims);
  }

  [[nodiscard]] bool fits(const ScheduleStep& step) const {
    const std::span<const std::uint32_t> in = schedule_.at(step.inputs);
    const std::span<const std::uint32_t> out = schedule_.at(step.outputs);
    const auto inputs_of = [&](GraphId g) { return schedule_.at(schedule_.graphs[g].inputs); };
    const auto outputs_of = [&](GraphId g) { return schedule_.at(schedule_.graphs[g].outputs); };
    switch (step.kind) {
      case StepKind::call_delegate: {
        const MethodInterface& interface = *delegates_[step.delegate];
        return agree_ports(interface.inputs, in) && agree_ports(interface.outputs, out);
      }
      case StepKind::cond:
        for (const GraphId branch : {step.graph, step.other})
          if (!agree(in.subspan(1), inputs_of(branch)) || !agree_wanted(outputs_of(branch), out)) return false;
        return true;
      case StepKind::while_loop:
        return step.carried <= in.size() && agree(in, inputs_of(step.graph)) && agree(in, inputs_of(step.other)) &&
               agree(outputs_of(step.other), in.first(step.carried)) && agree_wanted(in.first(step.carried), out);
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
    if (last > in.size() || in.size() != body_in.size() || out.size() != body_out.size() || first > out.size())
      return false;
    for (std::size_t i = first; i < last; ++i)
      if (!is_row(types_[body_in[i]], types_[in[i]], step.dim)) return false;
    for (std::size_t i = first; i < out.size(); ++i)
      if (out[i] < graph_.values.size() && !is_row(types_[body_out[i]], types_[out[i]], 0)) return false;
    return agree(in.first(first), body_in.first(first)) && agree(in.subspan(last), body_in.subspan(last)) &&
           agree(body_out.first(first), body_in.first(first)) && agree_wanted(body_out.first(first), out.first(first));
  }

  const ExportedProgram& parent_;
  GraphModuleView graph_;
  const MethodInterface& interface_;
  std::span<const MethodInterface* const> delegates_;
  const Schedule& schedule_;
  std::vector<PortType> types_;
};

}  // namespace detail

/// Checks that whatever a lowered program passes on arrives with the kind, dtype, rank and known sizes that it left
/// with: between caller, partitions, control flow and its sub-graphs. For programs from a file; one that was lowered
/// here agrees. Errors: corrupt_data with the place. O(n log n) for a parent and an interface of size n.
[[nodiscard]] inline Result<void> check_schedule(const ExportedProgram& parent, const MethodInterface& interface,
                                                 std::span<const MethodInterface* const> delegates,
                                                 const Schedule& schedule) {
  return detail::ScheduleChecker(parent, interface, delegates, schedule).run();
}

}  // namespace davit
