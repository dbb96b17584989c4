// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/kit/default_threads.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/portable/run_time/bind_arguments.hpp"
#include "davit/backends/portable/run_time/code.hpp"
#include "davit/backends/portable/run_time/int8_plan.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/products/byte_products.hpp"
#include "davit/backends/portable/run_time/epilogue_plan.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace portable_kernels {

[[nodiscard]] Error mismatch(GraphModuleView graph, const Node& node, DebugHandle handle, Name what) {
  return Error{.code = ErrorCode::invalid_program,
               .stage = Stage::compile,
               .debug_handle = handle,
               .backend = portable::name,
               .where = concat("operator ", graph.target(node)),
               .what = std::move(what),
               .fix = "the node does not fit its operator's schema: export the program again"};
}

/// The slot of a step's first tensor argument, in the order of the schema, whatever the file's order; no_id: none.
[[nodiscard]] std::uint32_t first_tensor(const Code& code, const Step& step) noexcept {
  const ArgumentTable::Slot* first = nullptr;
  for (std::uint32_t i = step.slots_in.first; i < step.slots_in.first + step.slots_in.count; ++i) {
    const ArgumentTable::Slot& slot = code.arguments.slots[i];
    if (slot.is_tensor != 0 && (first == nullptr || slot.argument < first->argument)) first = &slot;
  }
  return first == nullptr ? no_id : first->slot;
}

/// as_strided's storage_offset counts from the start of the storage: replaces the step's operand by the owner of the
/// storage, so that it counts from there. False if the owner begins inside its storage and the offset is symbolic.
/// Source: at::native::as_strided_tensorimpl.
[[nodiscard]] bool count_from_storage(Code& code, const Step& step, GraphModuleView graph) noexcept {
  EValue& offset = code.arguments.arguments[step.arguments.first + 3];
  ArgumentTable::Slot* self = nullptr;
  bool symbolic = false;
  for (std::uint32_t i = step.slots_in.first; i < step.slots_in.first + step.slots_in.count; ++i) {
    if (code.arguments.slots[i].argument == step.arguments.first) self = &code.arguments.slots[i];
    symbolic = symbolic || code.arguments.slots[i].argument == step.arguments.first + 3;
  }
  if (self == nullptr || (offset.is_none() && !symbolic)) return true;  // the default: self's own first element
  ValueId v = code.value_of_slot[self->slot];
  for (NodeId n = graph.values[v].producer; n != no_id; n = graph.values[v].producer) {
    const OperatorCall call = operator_call(graph, graph.nodes[n]);
    const Argument* of = viewed(graph, call);
    if (of == nullptr || code.slot_of_value[of->value()] == no_id ||
        graph.values[of->value()].dtype != graph.values[v].dtype)
      break;
    v = of->value();
  }
  self->slot = code.slot_of_value[v] & 0x3fffffffu;
  if (symbolic) return graph.values[v].constant == 0;
  offset = EValue(offset.integer() - graph.values[v].constant);
  return true;
}

/// Makes the Code of a program's body.
class CodeBuilder {
 public:
  CodeBuilder(const OpSet& set, const ProgramBody& body, Code& code)
      : set_(set), body_(body), graph_(body.graph.view()), code_(code), int8_(body), tails_(body, [this](NodeId n) {
          return free_row(n);
        }) {
    code.slot_of_value.assign(graph_.values.size(), no_id);
  }

  [[nodiscard]] Result<void> run() {
    const Graph& root = graph_.root();
    std::size_t i = 0;
    for (const Argument& input : graph_.args(root.inputs)) {
      const std::uint32_t slot = input.is_value() ? define(input.value(), no_id) : no_id;
      const InputRole role = body_.roles[i++];
      if (role == InputRole::constant) code_.constant_slots.push_back(slot);
      if (role == InputRole::object) code_.object_slots.push_back(slot);
      if (role == InputRole::user || role == InputRole::state) code_.input_slots.push_back(slot);
      if (role == InputRole::state && slot != no_id) is_state_[slot] = 1;
    }
    for (std::uint32_t n = 0; n < root.nodes.count; ++n) {
      const NodeId id = root.nodes.first + n;
      if (int8_.is_absorbed(id) || tails_.is_absorbed(id)) continue;
      Int8Step* const joined = int8_.step_of(id);
      EpilogueStep* const epilogue = tails_.step_of(id);
      if (Result<void> added = joined != nullptr     ? add(*joined, id)
                               : epilogue != nullptr ? add(*epilogue, id)
                                                     : add(id, id);
          !added)
        return added;
    }
    const std::uint32_t end = now();
    for (const Argument& output : graph_.args(root.outputs)) {
      const auto keep = [&](std::uint32_t slot) { last_use_[storage_[slot]] = last_use_[slot] = end; };
      if (!read(output, keep))
        return std::unexpected(Error{.code = ErrorCode::invalid_program,
                                     .stage = Stage::compile,
                                     .backend = portable::name,
                                     .where = "graph outputs",
                                     .what = "an output is not defined by any node or input",
                                     .fix = "export the program again"});
    }
    place_results();
    return {};
  }

 private:
  /// The row of a node that is pure and that neither a user's kernel nor a step on bytes computes; else nullptr.
  [[nodiscard]] const OpRow* free_row(NodeId n) noexcept {
    const OperatorCall call = operator_call(graph_, graph_.nodes[n]);
    return set_.is_own(call.target) || call.token != nullptr || int8_.is_absorbed(n) || int8_.step_of(n) != nullptr
               ? nullptr
               : find_op(set_, graph_, n, call.target).row;
  }
  /// The index of the next step.
  [[nodiscard]] std::uint32_t now() const noexcept { return static_cast<std::uint32_t>(code_.steps.size()); }
  /// Returns a new slot that step `by` defines.
  std::uint32_t define(ValueId value, std::uint32_t by) {
    const auto slot = static_cast<std::uint32_t>(code_.value_of_slot.size());
    code_.value_of_slot.push_back(value);
    if (value != no_id) code_.slot_of_value[value] = slot;
    storage_.push_back(slot);
    takes_none_.push_back(0);
    is_whole_.push_back(1);
    is_state_.push_back(0);
    last_use_.push_back(by == no_id ? 0 : by);
    first_def_.push_back(by);
    return slot;
  }
  /// Calls use(slot) for the values of an argument; false if one is undefined.
  template <class Use>
  [[nodiscard]] bool read(const Argument& argument, Use&& use) {
    bool defined = true;
    graph_.for_each_value(argument, [&](ValueId v) {
      if (code_.slot_of_value[v] == no_id)
        defined = false;
      else
        use(code_.slot_of_value[v]);
    });
    return defined;
  }
  [[nodiscard]] std::unexpected<Error> wrong(NodeId id, Name what) const {
    return std::unexpected(mismatch(graph_, graph_.nodes[id], body_.handles[id], std::move(what)));
  }

  /// Makes the error for a missing kernel, with the groups of operators that the program needs.
  [[nodiscard]] std::unexpected<Error> lacking(NodeId id, OperatorGroup group) const {
    if (group == OperatorGroup::of_family || set_.has(group)) return wrong(id, "no portable kernel for this operator");
    Error error = mismatch(graph_, graph_.nodes[id], body_.handles[id],
                           concat(operator_call(graph_, graph_.nodes[id]).target, ": ", absence_of_group(group)));
    error.code = ErrorCode::unsupported_operator;
    error.fix = groups_fix(set_, graph_);
    return std::unexpected(std::move(error));
  }

  /// Marks a slot as used by the next step.
  void use(std::uint32_t slot) { last_use_[storage_[slot]] = now(); }

  /// Appends the call of a node, which defines the outputs of node `makes`.
  [[nodiscard]] Result<void> add(NodeId id, NodeId makes) {
    OperatorCall call = operator_call(graph_, graph_.nodes[id]);
    const OperatorCall functional = functional_call(graph_, call);
    const bool is_functional = !functional.target.empty();
    if (is_functional) call = functional;
    const auto [row, text, group] = find_op(set_, graph_, id, call.target);
    if (row == nullptr) return lacking(id, group);
    if (call.target != schema_.name) schema_ = parse_schema(text);
    const std::size_t first_list = code_.arguments.lists.size();
    std::vector<Written> written;
    if (is_functional && !add_copies(id, call, written))
      return wrong(id, "its results are not the arguments that its operator writes");
    Step step{.kernel = row->kernel, .op = row->name, .handle = body_.handles[id], .is_own = set_.is_own(call.target)};
    step.arguments = {static_cast<std::uint32_t>(code_.arguments.arguments.size()),
                      static_cast<std::uint32_t>(schema_.parameters.size())};
    step.slots_in.first = static_cast<std::uint32_t>(code_.arguments.slots.size());
    for (const Argument& input : graph_.inputs(graph_.nodes[id]))
      if (!read(input, [&](std::uint32_t slot) { use(slot); }))
        return wrong(id, "an argument is used before it is defined");
    if (Name misfit =
            ArgumentBinder(graph_, code_.slot_of_value, code_.arguments).bind(call.inputs, schema_, row->takes_numbers);
        !misfit.empty())
      return wrong(id, std::move(misfit));
    step.slots_in.count = static_cast<std::uint32_t>(code_.arguments.slots.size()) - step.slots_in.first;
    if (!written.empty()) take_copies(step, written, first_list);
    if (row->name == "aten.as_strided.default" && !count_from_storage(code_, step, graph_))
      return wrong(id, "its storage_offset counts from elements that are not known here");
    if (call.token != nullptr && call.token->is_value() && code_.slot_of_value[call.token->value()] == no_id)
      use(define(call.token->value(), no_id));
    if (is_functional) call.outputs = call.outputs.first(schema_.returns);
    if (!add_outputs(step, makes == id ? call : operator_call(graph_, graph_.nodes[makes])))
      return wrong(makes, "an output is defined twice");
    // A view keeps its base alive, and so do values that the base may alias: both live until either's last use.
    const std::uint32_t self = first_tensor(code_, step);
    if (self != no_id && (row->aliasing != Aliasing::none || row->updates))
      std::fill(is_state_.begin() + step.slots_out.first, is_state_.end(), is_state_[self]);
    if (row->aliasing != Aliasing::none)
      if (self != no_id)
        for (std::uint32_t s = step.slots_out.first; s < code_.value_of_slot.size(); ++s) {
          storage_[s] = storage_[self];
          takes_none_[s] = row->aliasing == Aliasing::always ? 1 : 0;
          is_whole_[s] = is_whole_[self] != 0 && makes == id && !step.is_own &&
                                 operators::read_same_elements(operators::NodeArguments(graph_, id)) != no_id
                             ? 1
                             : 0;
        }
    step.reads_state = reads_state(step);
    code_.steps.push_back(step);
    updates_.push_back(row->updates ? 1 : 0);
    return {};
  }
  /// True if the step's second and third arguments are state.
  [[nodiscard]] bool reads_state(const Step& step) const noexcept {
    bool both[2] = {};
    for (std::uint32_t k = 0; k < step.slots_in.count; ++k) {
      const ArgumentTable::Slot& slot = code_.arguments.slots[step.slots_in.first + k];
      if (const std::uint32_t at = slot.argument - step.arguments.first; at == 1 || at == 2)
        both[at - 1] = is_state_[slot.slot] != 0;
    }
    return both[0] && both[1];
  }
  /// The copy of an argument that a kernel writes to.
  struct Written {
    std::uint32_t parameter;
    std::uint32_t item;  ///< index in a list
    std::uint32_t slot;
  };
  /// Copies each argument that an operator writes, as a result of the call; false if the call has other results.
  [[nodiscard]] bool add_copies(NodeId id, OperatorCall& call, std::vector<Written>& written) {
    std::size_t next = std::max<std::size_t>(schema_.returns, 1);
    const auto copy = [&](const Argument& from, const Argument& to, std::uint32_t parameter, std::uint32_t item) {
      if (!from.is_value() && !to.is_value()) return true;
      if (!from.is_value() || !to.is_value() || code_.slot_of_value[from.value()] == no_id ||
          code_.slot_of_value[to.value()] != no_id)
        return false;
      const OpRow* const row = set_.find(OperatorGroup::movement, "aten.clone.default");
      ArgumentTable& table = code_.arguments;
      const std::uint32_t slot = code_.slot_of_value[from.value()];
      const auto argument = static_cast<std::uint32_t>(table.arguments.size());
      const auto first = static_cast<std::uint32_t>(table.slots.size());
      table.arguments.resize(argument + 2);  // no memory format
      table.slots.push_back({argument, slot & 0x3fffffffu, 1, 0});
      use(slot);
      const std::uint32_t made = define(to.value(), now());
      code_.steps.push_back({.kernel = row->kernel,
                             .op = row->name,
                             .arguments = {argument, 2},
                             .slots_in = {first, 1},
                             .slots_out = {made, 1},
                             .handle = body_.handles[id]});
      updates_.push_back(0);
      written.push_back({parameter, item, made});
      return true;
    };
    for (std::uint32_t p = 0; p < schema_.parameters.size(); ++p) {
      if (!schema_.parameters[p].is_written) continue;
      if (next == call.outputs.size()) return false;
      const Argument& to = call.outputs[next++];
      const Argument* const from = find_argument(graph_, call, schema_.parameters[p].name, p);
      const std::span<const Argument> sources = from == nullptr   ? std::span<const Argument>{}
                                                : from->is_list() ? graph_.args(from->items)
                                                                  : std::span(from, 1);
      const std::span<const Argument> results =
          to.is_list() ? graph_.args(to.items) : std::span(&to, from == nullptr ? 0 : 1);
      if (sources.size() != results.size()) return false;
      for (std::uint32_t i = 0; i < sources.size(); ++i)
        if (!copy(sources[i], results[i], p, i)) return false;
    }
    return next == call.outputs.size();
  }
  /// Replaces operands of a step, with lists from `first_list` on, by their copies.
  void take_copies(const Step& step, std::span<const Written> written, std::size_t first_list) {
    ArgumentTable& table = code_.arguments;
    std::vector<std::uint32_t> instead(table.arguments.size() - step.arguments.first,
                                       no_id);  // per argument of the step
    for (const Written& each : written) {
      std::uint32_t at = each.parameter;
      for (const ArgumentTable::List& list : std::span(table.lists).subspan(first_list))
        if (list.argument == step.arguments.first + each.parameter) at = list.first - step.arguments.first + each.item;
      instead[at] = each.slot;
      use(each.slot);
    }
    for (ArgumentTable::Slot& slot : std::span(table.slots).subspan(step.slots_in.first))
      if (const std::uint32_t copy = instead[slot.argument - step.arguments.first]; copy != no_id)
        slot.slot = copy & 0x3fffffffu;
  }
  /// Defines the results of a call; false if a result is defined already.
  [[nodiscard]] bool add_outputs(Step& step, const OperatorCall& call) {
    step.slots_out.first = static_cast<std::uint32_t>(code_.value_of_slot.size());
    bool fresh = true;
    const auto add_one = [&](const Argument& a) {
      if (a.is_value() && code_.slot_of_value[a.value()] != no_id)
        fresh = false;
      else
        define(a.is_value() ? a.value() : no_id, now());
    };
    for (const Argument& a : call.outputs) {
      if (!a.is_list()) add_one(a);
      for (const Argument& item : a.is_list() ? graph_.args(a.items) : std::span<const Argument>{}) add_one(item);
    }
    step.slots_out.count = static_cast<std::uint32_t>(code_.value_of_slot.size()) - step.slots_out.first;
    return fresh;
  }
  /// Appends a convolution with its epilogue in place of the epilogue's last node.
  [[nodiscard]] Result<void> add(EpilogueStep& joined, NodeId last) {
    if (Result<void> added = add(joined.convolution, last); !added) return added;
    code_.steps.back().epilogue = static_cast<std::uint32_t>(code_.tails.size());
    code_.tails.push_back(joined.epilogue);
    code_.packed.push_back(std::move(joined.numbers));  // its elements do not move
    return {};
  }
  /// Appends a step on bytes in place of a quantize.
  [[nodiscard]] Result<void> add(Int8Step& joined, NodeId quantize) {
    const OpRow* const row = find_op(set_, operator_call(graph_, graph_.nodes[joined.node]).target).row;
    const OpRow* const bytes =
        set_.find(OperatorGroup::quantization, joined.is_sum() ? byte_sum_name : byte_product_name);
    if (row == nullptr || bytes == nullptr) return lacking(joined.node, OperatorGroup::quantization);
    Step step{.kernel = bytes->kernel, .op = row->name, .handle = body_.handles[joined.node]};
    ArgumentTable& to = code_.arguments;
    step.arguments.first = static_cast<std::uint32_t>(to.arguments.size());
    step.slots_in.first = static_cast<std::uint32_t>(to.slots.size());
    for (const ValueId v : {joined.first, joined.second}) {
      if (v == no_id) continue;
      const std::uint32_t slot = code_.slot_of_value[v];
      if (slot == no_id) return wrong(joined.node, "an argument is used before it is defined");
      use(slot);
      to.slots.push_back({static_cast<std::uint32_t>(to.arguments.size()), slot & 0x3fffffffu, 1, 0});
      to.arguments.emplace_back();
    }
    step.slots_in.count = static_cast<std::uint32_t>(to.slots.size()) - step.slots_in.first;
    if (!joined.is_sum())
      for (Tensor& constant : joined.constants) {
        to.arguments.emplace_back(constant.view());
        code_.packed.push_back(std::move(constant));  // its sizes and elements do not move
      }
    for (const EValue& number : joined.numbers()) to.arguments.push_back(number);
    step.arguments.count = static_cast<std::uint32_t>(to.arguments.size()) - step.arguments.first;
    if (!add_outputs(step, operator_call(graph_, graph_.nodes[quantize])))
      return wrong(quantize, "an output is defined twice");
    code_.steps.push_back(step);
    updates_.push_back(0);
    return {};
  }

  /// The input in whose memory the step may write its output: no later step reads it, and the step reads no other value
  /// in that memory.
  [[nodiscard]] std::uint32_t updated_input(std::span<const std::uint32_t> input_of, std::uint32_t step) const {
    const std::uint32_t self = updates_[step] != 0 ? first_tensor(code_, code_.steps[step]) : no_id;
    if (self == no_id || storage_[self] != self || last_use_[self] != step) return no_id;
    const Range in = code_.steps[step].slots_in;
    std::uint32_t reads = 0;
    for (std::uint32_t k = 0; k < in.count; ++k)
      reads += storage_[code_.arguments.slots[in.first + k].slot] == self ? 1 : 0;
    return reads == 1 ? input_of[self] : no_id;
  }
  /// Records the memory of results and of temporary values.
  void place_results() {
    std::vector<std::uint32_t> input_of(code_.value_of_slot.size(), no_id);
    for (std::uint32_t k = 0; k < code_.input_slots.size(); ++k)
      if (code_.input_slots[k] != no_id) input_of[code_.input_slots[k]] = k;
    std::vector<std::uint8_t> returned(code_.value_of_slot.size(), 0);
    for (const Argument& output : graph_.args(graph_.root().outputs)) {
      const std::uint32_t slot = output.is_value() ? code_.slot_of_value[output.value()] : no_id;
      const bool is_view = slot != no_id && storage_[slot] != slot;
      const std::uint32_t place =
          is_view && is_whole_[slot] != 0 && first_def_[storage_[slot]] != no_id ? storage_[slot] : slot;
      const bool made = place != no_id && first_def_[place] != no_id && returned[place]++ == 0;
      code_.made_slots.push_back(made ? place : no_id);
      code_.updated_inputs.push_back(made && !is_view ? updated_input(input_of, first_def_[slot]) : no_id);
    }
    for (std::uint32_t s = 0; s < code_.value_of_slot.size(); ++s) {
      if (first_def_[s] == no_id) continue;
      code_.planned_slots.push_back(s);
      code_.takes_none.push_back(takes_none_[s]);
      code_.lifetimes.push_back({first_def_[s], std::max(last_use_[s], last_use_[storage_[s]]), 0});
    }
  }

  const OpSet& set_;
  const ProgramBody& body_;
  GraphModuleView graph_;
  Code& code_;
  Int8Plan int8_;
  EpiloguePlan tails_;
  OperatorSchema schema_;
  std::vector<std::uint32_t> storage_;    ///< per slot: the owner of the storage that it may view
  std::vector<std::uint8_t> takes_none_;  ///< per slot: 1 if it is always a view
  std::vector<std::uint8_t> is_whole_;    ///< per slot: 1 if it has all elements of its storage, in order
  std::vector<std::uint8_t> is_state_;    ///< per slot: 1 if it is state, a view of state or new state
  std::vector<std::uint32_t> first_def_;  ///< per slot: the step that defines it, or no_id
  std::vector<std::uint32_t> last_use_;   ///< per slot: the last step that reads it or its storage
  std::vector<std::uint8_t> updates_;     ///< per step: 1 if its operator updates its first argument
};

}  // namespace portable_kernels

Result<portable::Handle> portable::compile_with(const portable_kernels::OpSet& set, const Processed& processed,
                                                const CompileSpec& spec) {
  auto code = std::make_shared<portable_kernels::Code>();
  code->body = processed.body;
  code->threads = threads_of<portable>(spec);
  if (Result<void> built = portable_kernels::CodeBuilder(set, *processed.body, *code).run(); !built)
    return error_of(std::move(built));
  return Handle{std::move(code)};
}

}  // namespace davit
