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
#include "davit/backends/default_threads.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/portable/run_time/bind_arguments.hpp"
#include "davit/backends/portable/run_time/code.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operator_schema.hpp"
#include "davit/program/views.hpp"

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

/// The slot of a step's first tensor argument, in the order of its schema, whatever order the file names them in; no_id: it has none.
[[nodiscard]] DAVIT_INLINE std::uint32_t first_tensor(const Code& code, const Step& step) noexcept {
  const ArgumentTable::Slot* first = nullptr;
  for (std::uint32_t i = step.slots_in.first; i < step.slots_in.first + step.slots_in.count; ++i) {
    const ArgumentTable::Slot& slot = code.arguments.slots[i];
    if (slot.is_tensor != 0 && (first == nullptr || slot.argument < first->argument)) first = &slot;
  }
  return first == nullptr ? no_id : first->slot;
}

/// as_strided's storage_offset counts from the start of the storage: lets the step take the value that the storage was made
/// for, behind all views, and count from there. False if that value begins inside its storage and the offset is symbolic.
/// Source: at::native::as_strided_tensorimpl.
[[nodiscard]] DAVIT_INLINE bool count_from_storage(Code& code, const Step& step, GraphModuleView graph) noexcept {
  EValue& offset = code.arguments.arguments[step.arguments.first + 3];
  ArgumentTable::Slot* self = nullptr;
  bool symbolic = false;
  for (std::uint32_t i = step.slots_in.first; i < step.slots_in.first + step.slots_in.count; ++i) {
    if (code.arguments.slots[i].argument == step.arguments.first) self = &code.arguments.slots[i];
    symbolic = symbolic || code.arguments.slots[i].argument == step.arguments.first + 3;
  }
  if (self == nullptr || (offset.is_none() && !symbolic)) return true;  // from self's own first element
  ValueId v = code.value_of_slot[self->slot];
  for (NodeId n = graph.values[v].producer; n != no_id; n = graph.values[v].producer) {
    const OperatorCall call = operator_call(graph, graph.nodes[n]);
    const Argument* of = viewed(graph, call);
    if (of == nullptr || code.slot_of_value[of->value()] == no_id) break;
    v = of->value();
  }
  self->slot = code.slot_of_value[v] & 0x3fffffffu;
  if (symbolic) return graph.values[v].constant == 0;
  offset = EValue(offset.integer() - graph.values[v].constant);
  return true;
}

}  // namespace portable_kernels

DAVIT_INLINE Result<portable::Handle> portable::compile_with(std::span<const portable_kernels::CustomOperator> own,
                                                             const Processed& processed, const CompileSpec& spec) {
  const ProgramBody& body = *processed.body;
  const GraphModuleView graph = body.graph.view();
  const Graph& root = graph.root();
  auto code = std::make_shared<portable_kernels::Code>();
  portable_kernels::Code& h = *code;
  h.body = processed.body;
  h.threads = threads_of<portable>(spec);
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
    if (row->name == "aten.as_strided.default" && !portable_kernels::count_from_storage(h, step, graph))
      return std::unexpected(portable_kernels::mismatch(graph, node, body.handles[id], "its storage_offset counts from elements that are not known here"));
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
    if (row->aliasing == portable_kernels::Aliasing::may_alias)
      if (const std::uint32_t self = portable_kernels::first_tensor(h, step); self != no_id) base = storage[self];
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
  // the input whose memory the step may write its output into: the last that reads it, and nothing else that it reads lies there
  std::vector<std::uint32_t> input_of(h.value_of_slot.size(), no_id);
  for (std::uint32_t k = 0; k < h.input_slots.size(); ++k)
    if (h.input_slots[k] != no_id) input_of[h.input_slots[k]] = k;
  const auto updated_input = [&](std::uint32_t n) {
    const portable_kernels::Step& step = h.steps[n];
    const std::uint32_t self = portable_kernels::find_op(own, step.op).row->updates ? portable_kernels::first_tensor(h, step) : no_id;
    if (self == no_id || storage[self] != self || last_use[self] != n) return no_id;
    std::uint32_t reads = 0;
    for (std::uint32_t k = 0; k < step.slots_in.count; ++k) reads += storage[h.arguments.slots[step.slots_in.first + k].slot] == self ? 1 : 0;
    return reads == 1 ? input_of[self] : no_id;
  };
  std::vector<std::uint8_t> returned(h.value_of_slot.size(), 0);
  for (const Argument& output : graph.args(root.outputs)) {
    const std::uint32_t slot = output.is_value() ? h.slot_of_value[output.value()] : no_id;
    const bool made = slot != no_id && first_def[slot] != no_id && storage[slot] == slot && returned[slot]++ == 0;
    h.made_slots.push_back(made ? slot : no_id);
  }
  for (const std::uint32_t slot : h.made_slots) h.updated_inputs.push_back(slot == no_id ? no_id : updated_input(first_def[slot]));
  for (std::uint32_t s = 0; s < h.value_of_slot.size(); ++s) {
    if (first_def[s] == no_id) continue;
    const std::uint32_t last = std::max(last_use[s], last_use[storage[s]]);
    h.planned_slots.push_back(s);
    h.lifetimes.push_back({first_def[s], last, 0});
  }
  return Handle{std::move(code)};
}

}  // namespace davit
