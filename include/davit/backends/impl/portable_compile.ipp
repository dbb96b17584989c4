// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/portable/run_time/bind_arguments.hpp"
#include "davit/backends/portable/run_time/code.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operator_schema.hpp"

namespace davit {

namespace portable_kernels {

[[nodiscard]] DAVIT_INLINE Error mismatch(GraphModuleView graph, const Node& node, DebugHandle handle, Name what) {
  return Error{.code = ErrorCode::invalid_program,
               .stage = Stage::compile,
               .debug_handle = handle,
               .backend = portable::name,
               .where = concat("operator ", graph.target(node)),
               .what = std::move(what),
               .fix = "the node does not fit its operator's schema: export the program again"};
}

}  // namespace portable_kernels

DAVIT_INLINE Result<portable::Handle> portable::compile_with(std::span<const portable_kernels::CustomOperator> own,
                                                             const Processed& processed) {
  const ProgramBody& body = *processed.body;
  const GraphModuleView graph = body.graph.view();
  const Graph& root = graph.root();
  auto code = std::make_shared<portable_kernels::Code>();
  portable_kernels::Code& h = *code;
  h.body = processed.body;
  h.slot_of_value.assign(graph.values.size(), no_id);
  const auto define = [&](ValueId value) {
    const auto slot = static_cast<std::uint32_t>(h.value_of_slot.size());
    h.value_of_slot.push_back(value);
    if (value != no_id) h.slot_of_value[value] = slot;
    return slot;
  };
  std::size_t i = 0;
  for (const Argument& input : graph.args(root.inputs)) {
    const std::uint32_t slot = input.is_value() ? define(input.value()) : no_id;
    const InputRole role = body.roles[i++];
    if (role == InputRole::constant) h.constant_slots.push_back(slot);
    if (role == InputRole::object) h.object_slots.push_back(slot);
    if (role == InputRole::user || role == InputRole::state) h.input_slots.push_back(slot);
  }
  portable_kernels::ArgumentBinder binder(graph, h.slot_of_value, h.arguments);
  std::vector<std::uint32_t> storage;  // per slot: the slot whose storage it may view
  storage.resize(h.value_of_slot.size());
  for (std::uint32_t s = 0; s < storage.size(); ++s) storage[s] = s;
  std::vector<std::uint32_t> last_use(h.value_of_slot.size(), 0);
  std::vector<std::uint32_t> first_def(h.value_of_slot.size(), no_id);
  std::string_view parsed_target;
  OperatorSchema schema;
  for (std::uint32_t n = 0; n < root.nodes.count; ++n) {
    const NodeId id = root.nodes.first + n;
    const Node& node = graph.nodes[id];
    const OperatorCall call = operator_call(graph, node);
    const std::string_view target = call.target;
    const auto [row, text] = portable_kernels::find_op(own, target);
    if (row == nullptr || text.empty())
      return std::unexpected(
          portable_kernels::mismatch(graph, node, body.handles[id], "no portable kernel for this operator"));
    if (target != parsed_target) {
      schema = parse_schema(text);
      parsed_target = schema.name;
    }
    portable_kernels::Step step{.kernel = row->kernel, .op = row->name, .handle = body.handles[id]};
    step.arguments.first = static_cast<std::uint32_t>(h.arguments.arguments.size());
    step.arguments.count = static_cast<std::uint32_t>(schema.parameters.size());
    step.slots_in.first = static_cast<std::uint32_t>(h.arguments.slots.size());
    for (const Argument& input : graph.inputs(node)) {
      bool defined = true;
      graph.for_each_value(input, [&](ValueId v) {
        if (h.slot_of_value[v] == no_id) {
          defined = false;
        } else {
          last_use[storage[h.slot_of_value[v]]] = n;
        }
      });
      if (!defined)
        return std::unexpected(
            portable_kernels::mismatch(graph, node, body.handles[id], "an argument is used before it is defined"));
    }
    if (Name wrong = binder.bind(call.inputs, schema, row->takes_numbers); !wrong.empty())
      return std::unexpected(portable_kernels::mismatch(graph, node, body.handles[id], std::move(wrong)));
    step.slots_in.count = static_cast<std::uint32_t>(h.arguments.slots.size()) - step.slots_in.first;
    if (call.token != nullptr && call.token->is_value() && h.slot_of_value[call.token->value()] == no_id) {
      define(call.token->value());
      storage.push_back(static_cast<std::uint32_t>(storage.size()));
      last_use.push_back(n);
      first_def.push_back(no_id);
    }
    step.slots_out.first = static_cast<std::uint32_t>(h.value_of_slot.size());
    const auto output = [&](const Argument& a) {
      if (a.is_value() && h.slot_of_value[a.value()] != no_id) return false;
      define(a.is_value() ? a.value() : no_id);
      return true;
    };
    for (const Argument& a : call.outputs) {
      bool fresh = true;
      if (a.is_list()) {
        for (const Argument& item : graph.args(a.items)) fresh = output(item) && fresh;
      } else {
        fresh = output(a);
      }
      if (!fresh)
        return std::unexpected(portable_kernels::mismatch(graph, node, body.handles[id], "an output is defined twice"));
    }
    step.slots_out.count = static_cast<std::uint32_t>(h.value_of_slot.size()) - step.slots_out.first;
    std::uint32_t base = no_id;
    if (row->aliasing == portable_kernels::Aliasing::may_alias && step.slots_in.count != 0)
      base = storage[h.arguments.slots[step.slots_in.first].slot];
    for (std::uint32_t s = step.slots_out.first; s < h.value_of_slot.size(); ++s) {
      storage.push_back(s);
      last_use.push_back(n);
      first_def.push_back(n);
      if (base != no_id) storage[s] = base;
    }
    // A view keeps its base alive, and so does what the base may itself copy into: both live until either's last use.
    h.steps.push_back(step);
  }
  for (const Argument& output : graph.args(root.outputs)) {
    bool defined = true;
    graph.for_each_value(output, [&](ValueId v) {
      if (h.slot_of_value[v] == no_id) {
        defined = false;
      } else {
        last_use[storage[h.slot_of_value[v]]] = root.nodes.count;
        last_use[h.slot_of_value[v]] = root.nodes.count;
      }
    });
    if (!defined)
      return std::unexpected(Error{.code = ErrorCode::invalid_program,
                                   .stage = Stage::compile,
                                   .backend = name,
                                   .where = "graph outputs",
                                   .what = "an output is not defined by any node or input",
                                   .fix = "export the program again"});
  }
  std::vector<std::uint8_t> returned(h.value_of_slot.size(), 0);
  for (const Argument& output : graph.args(root.outputs)) {
    const std::uint32_t slot = output.is_value() ? h.slot_of_value[output.value()] : no_id;
    const bool made = slot != no_id && first_def[slot] != no_id && storage[slot] == slot && returned[slot]++ == 0;
    h.made_slots.push_back(made ? slot : no_id);
  }
  for (std::uint32_t s = 0; s < h.value_of_slot.size(); ++s) {
    if (first_def[s] == no_id) continue;
    const std::uint32_t last = std::max(last_use[s], last_use[storage[s]]);
    h.planned_slots.push_back(s);
    h.lifetimes.push_back({first_def[s], last, 0});
  }
  return Handle{std::move(code)};
}

}  // namespace davit
