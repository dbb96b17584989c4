// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "davit/lowered/schedule.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/name_map.hpp"
#include "davit/program/verify_signature.hpp"

namespace davit {

namespace detail {

class ScheduleBuilder {
 public:
  ScheduleBuilder(const ExportedProgram& parent, const MethodInterface& interface,
                  std::span<const MethodInterface* const> delegates)
      : parent_(parent),
        interface_(interface),
        graph_(parent.view()),
        delegates_(delegates),
        called_(delegates.size(), 0) {
    out_.slot_count = static_cast<std::uint32_t>(graph_.values.size());
  }

  [[nodiscard]] Result<Schedule> run() {
    for (const Graph& graph : graph_.graphs) {
      for (const Range ends : {graph.inputs, graph.outputs})
        for (const Argument& a : graph_.args(ends))
          if (a.is_list()) return std::unexpected(wrong_ends());
      ScheduleGraph g;
      g.inputs = slots_of(graph_.args(graph.inputs));
      g.outputs = slots_of(graph_.args(graph.outputs));
      g.steps.first = static_cast<std::uint32_t>(out_.steps.size());
      for (std::uint32_t n = 0; n < graph.nodes.count; ++n)
        if (!step(graph.nodes.first + n)) return std::unexpected(mismatch(graph.nodes.first + n));
      g.steps.count = static_cast<std::uint32_t>(out_.steps.size()) - g.steps.first;
      out_.graphs.push_back(g);
    }
    if (!connect()) return std::unexpected(wrong_ends());
    return std::move(out_);
  }

 private:
  [[nodiscard]] static Error wrong_ends() {
    return Error{.code = ErrorCode::invalid_program,
                 .stage = Stage::partition,
                 .where = "lowered program",
                 .what = "its inputs and outputs are not those of the method",
                 .fix = "lower the program again"};
  }
  /// Finds the slots of the method's inputs and outputs: slots of the parent, or of buffers that moved into a
  /// partition.
  [[nodiscard]] bool connect() {
    std::vector<std::pair<std::string_view, const Schedule::MovedBuffer*>> moved;
    for (const Schedule::MovedBuffer& buffer : out_.buffers) moved.emplace_back(buffer.target.view(), &buffer);
    std::ranges::sort(moved);
    const auto find = [&](const Name& target) -> const Schedule::MovedBuffer* {
      const auto at = std::ranges::lower_bound(moved, target.view(), {}, [](const auto& m) { return m.first; });
      return at == moved.end() || at->first != target.view() ? nullptr : at->second;
    };
    std::vector<std::uint32_t> kept;
    const std::span<const std::uint32_t> in = out_.at(out_.graphs[root_graph].inputs);
    const std::vector<InputRole> roles = input_roles(parent_.signature);
    for (std::size_t i = 0; i < in.size(); ++i)
      if (roles[i] == InputRole::user || roles[i] == InputRole::state) kept.push_back(in[i]);
    std::size_t next = 0;
    for (const InputPort& port : interface_.inputs) {
      const Schedule::MovedBuffer* buffer = port.role == InputRole::state ? find(port.target) : nullptr;
      if (buffer == nullptr && next == kept.size()) return false;
      out_.input_slots.push_back(buffer != nullptr ? buffer->slot : kept[next++]);
    }
    const std::span<const std::uint32_t> out = out_.at(out_.graphs[root_graph].outputs);
    std::size_t next_out = 0;
    out_.output_slots.assign(interface_.outputs.size(), 0);
    const auto place = [&](std::size_t i) {
      const OutputPort& port = interface_.outputs[i];
      const bool mutation = port.kind == OutputKind::buffer_mutation || port.kind == OutputKind::parameter_mutation;
      const Schedule::MovedBuffer* buffer = mutation ? find(port.target) : nullptr;
      if (buffer == nullptr && next_out == out.size()) return false;
      out_.output_slots[i] = buffer != nullptr ? buffer->result : out[next_out++];
      return true;
    };
    // the parent returns tokens and mutations first, including the mutations that functionalization added
    const std::size_t own = interface_.outputs.size() - interface_.added_mutations;
    std::size_t rest = 0;
    while (rest < own && detail::output_rank(interface_.outputs[rest].kind) <= 1) ++rest;
    for (const auto& [from, to] :
         {std::pair{std::size_t{0}, rest}, std::pair{own, interface_.outputs.size()}, std::pair{rest, own}})
      for (std::size_t i = from; i < to; ++i)
        if (!place(i)) return false;
    return next == kept.size() && next_out == out.size();
  }

  [[nodiscard]] Error mismatch(NodeId n) const {
    return Error{.code = ErrorCode::invalid_program,
                 .stage = Stage::partition,
                 .where = concat("node '", node_label(graph_, n), "' (", graph_.target(graph_.nodes[n]), ")"),
                 .what = "the lowered program cannot carry out this node, or its arguments do not fit",
                 .fix = "name a backend that takes the operator, or decompose it"};
  }
  std::uint32_t slot_of(const Argument& a) {
    if (a.is_value()) return a.value();
    out_.literals.push_back({out_.slot_count, a});
    return out_.slot_count++;
  }
  template <class Items>
  void append(const Items& items) {
    for (const Argument& a : items) {
      if (a.is_list()) {
        append(graph_.args(a.items));
      } else {
        out_.slots.push_back(slot_of(a));
      }
    }
  }
  [[nodiscard]] Range slots_of(std::span<const Argument> items) {
    Range r{static_cast<std::uint32_t>(out_.slots.size()), 0};
    append(items);
    return close(r);
  }
  [[nodiscard]] Range close(Range r) const noexcept {
    r.count = static_cast<std::uint32_t>(out_.slots.size()) - r.first;
    return r;
  }
  [[nodiscard]] std::uint32_t count(const Argument& a) const noexcept { return a.is_list() ? a.items.count : 1; }

  [[nodiscard]] bool step(NodeId n) {
    const Node& node = graph_.nodes[n];
    const std::string_view target = graph_.target(node);
    const std::span<const Argument> in = graph_.inputs(node);
    if (target == call_delegate_target) return delegate(n, in);
    ScheduleStep s{.node = n};
    const auto is_graph = [&](std::size_t i) { return i < in.size() && in[i].kind == ArgumentKind::graph; };
    std::size_t first = 0;  // first argument that becomes a slot
    if (target == "higher_order.cond" && in.size() >= 4 && is_graph(1) && is_graph(2)) {
      s.kind = StepKind::cond;
      s.graph = in[1].graph();
      s.other = in[2].graph();
      s.inputs.first = static_cast<std::uint32_t>(out_.slots.size());
      out_.slots.push_back(slot_of(in[0]));
      append(in.subspan(3));
      s.inputs = close(s.inputs);
      s.outputs = slots_of(graph_.outputs(node));
      out_.steps.push_back(s);
      return true;
    }
    if (target == "higher_order.while_loop" && in.size() >= 3 && is_graph(0) && is_graph(1)) {
      s.kind = StepKind::while_loop;
      s.graph = in[0].graph();
      s.other = in[1].graph();
      s.carried = count(in[2]);
      first = 2;
    } else if (target == "higher_order.map_impl" && in.size() >= 2 && is_graph(0)) {
      s.kind = StepKind::map;
      s.graph = in[0].graph();
      s.sliced = count(in[1]);
      first = 1;
    } else if (target == "higher_order.scan" && in.size() >= 5 && is_graph(0) && in[3].kind == ArgumentKind::int_) {
      s.kind = StepKind::scan;
      s.graph = in[0].graph();
      s.carried = count(in[1]);
      s.sliced = count(in[2]);
      s.dim = in[3].payload;
      s.reverse = in[4].payload != 0 ? 1 : 0;
      s.inputs.first = static_cast<std::uint32_t>(out_.slots.size());
      append(in.subspan(1, 2));
      append(in.subspan(5));
      s.inputs = close(s.inputs);
      s.outputs = slots_of(graph_.outputs(node));
      out_.steps.push_back(s);
      return true;
    } else {
      return false;
    }
    s.inputs = slots_of(in.subspan(first));
    s.outputs = slots_of(graph_.outputs(node));
    out_.steps.push_back(s);
    return s.carried <= s.inputs.count;  // nested lists may hold fewer slots than count() says
  }

  [[nodiscard]] bool delegate(NodeId n, std::span<const Argument> in) {
    if (in.empty() || in[0].payload < 0 || static_cast<std::size_t>(in[0].payload) >= delegates_.size()) return false;
    if (called_[static_cast<std::size_t>(in[0].payload)]++ != 0)
      return false;  // a session keeps the state of a partition for a single call
    ScheduleStep s{.kind = StepKind::call_delegate, .delegate = static_cast<std::uint32_t>(in[0].payload), .node = n};
    const MethodInterface& interface = *delegates_[s.delegate];
    std::vector<ValueId> passed;
    for (const Argument& a : in.subspan(1))
      if (a.is_value() && graph_.values[a.value()].kind != ValueKind::token) passed.push_back(a.value());
    std::vector<ValueId> tokens;
    std::vector<ValueId> made;
    for (const Argument& a : graph_.outputs(graph_.nodes[n])) {
      if (!a.is_value()) return false;
      (graph_.values[a.value()].kind == ValueKind::token ? tokens : made).push_back(a.value());
    }
    s.inputs.first = static_cast<std::uint32_t>(out_.slots.size());
    std::size_t next = 0;
    const std::size_t first_buffer = out_.buffers.size();
    for (const InputPort& port : interface.inputs) {
      if (port.role == InputRole::state) {
        out_.buffers.push_back({port.target, out_.slot_count, out_.slot_count});
        out_.slots.push_back(out_.slot_count++);
      } else {
        if (next == passed.size()) return false;
        out_.slots.push_back(passed[next++]);
      }
    }
    s.inputs = close(s.inputs);
    s.outputs.first = static_cast<std::uint32_t>(out_.slots.size());
    std::size_t next_token = 0;
    std::size_t next_made = 0;
    const std::span<Schedule::MovedBuffer> own = std::span(out_.buffers).subspan(first_buffer);
    const NameIndex taken(own, [](const Schedule::MovedBuffer& buffer) { return buffer.target.view(); });
    for (const OutputPort& port : interface.outputs) {
      if (port.kind == OutputKind::token) {
        if (next_token == tokens.size()) return false;
        out_.slots.push_back(tokens[next_token++]);
      } else if (port.kind == OutputKind::buffer_mutation || port.kind == OutputKind::parameter_mutation) {
        if (const std::size_t at = taken.first(port.target); at != NameIndex::not_found)
          own[at].result = out_.slot_count;
        out_.slots.push_back(out_.slot_count++);
      } else {
        if (next_made == made.size()) return false;
        out_.slots.push_back(made[next_made++]);
      }
    }
    s.outputs = close(s.outputs);
    out_.steps.push_back(s);
    return next == passed.size() && next_made == made.size() && next_token == tokens.size();
  }

  const ExportedProgram& parent_;
  const MethodInterface& interface_;
  GraphModuleView graph_;
  std::span<const MethodInterface* const> delegates_;
  std::vector<std::uint8_t> called_;  ///< per delegate
  Schedule out_;
};

}  // namespace detail

Result<Schedule> make_schedule(const ExportedProgram& parent, const MethodInterface& interface,
                               std::span<const MethodInterface* const> delegates) {
  return detail::ScheduleBuilder(parent, interface, delegates).run();
}

}  // namespace davit
