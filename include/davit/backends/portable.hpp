// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/backend/delegate_io.hpp"
#include "davit/backend/memory_plan.hpp"
#include "davit/backend/program_body.hpp"
#include "davit/backends/portable/bind_arguments.hpp"
#include "davit/backends/portable/op_table.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators.hpp"
#include "davit/program/symbols.hpp"

namespace davit {

/// The backend that runs everything else: plain C++ kernels for core ATen, on any machine, without dependencies.
///
/// Execute takes no heap memory for programs of static shape; outputs whose sizes depend on data do. Outputs may view
/// inputs, constants and the session's scratch: they hold until the next run.
struct portable {
  static constexpr std::string_view name = "portable";

  struct CompileSpec {
    friend constexpr bool operator==(const CompileSpec&, const CompileSpec&) = default;
  };

  struct Processed {
    std::shared_ptr<const ProgramBody> body;
  };

  struct Step {
    portable_kernels::Kernel kernel = nullptr;
    std::string_view op;
    Range arguments{};
    Range slots_in{};  ///< rows of ArgumentTable::slots
    Range slots_out{};
    DebugHandle handle = no_debug_handle;
  };
  struct Handle {
    std::shared_ptr<const ProgramBody> body;
    std::vector<Step> steps{};
    portable_kernels::ArgumentTable arguments{};
    std::vector<ValueId> value_of_slot{};      ///< no_id for an output that the graph does not name
    std::vector<std::uint32_t> slot_of_value{};
    std::vector<std::uint32_t> input_slots{};  ///< per delegate input; no_id for one that no value carries
    std::vector<std::uint32_t> constant_slots{};
    std::vector<std::uint32_t> object_slots{};
    std::vector<Lifetime> lifetimes{};         ///< of slots that steps define, in slot order; bytes are per run
    std::vector<std::uint32_t> planned_slots{};
    std::vector<std::uint32_t> made_slots{};   ///< per graph output: the slot, if a step makes it there and it is no view; else no_id
  };
  struct Workspace {
    std::vector<EValue> slots;
    std::vector<EValue> arguments;
    std::vector<portable_kernels::OutputPlace> places;
    std::vector<std::int64_t> dims;
    std::vector<std::size_t> offsets;
    std::byte* scratch = nullptr;
    std::vector<std::uint8_t> given;  ///< per slot: 1 if it lies at the destination of an output
    SymbolValues symbols;
    portable_kernels::KernelMemory memory;
  };

  [[nodiscard]] static constexpr bool is_available() noexcept { return true; }

  /// The operators that portable has: their rows and schemas.
  struct Operators {
    [[nodiscard]] static constexpr const portable_kernels::OpRow* find(std::string_view target) noexcept {
      return portable_kernels::find_op(target);
    }
    [[nodiscard]] static constexpr std::string_view schema(std::string_view target) noexcept { return find_operator(target); }
  };

  /// nullptr if portable takes the node, else why not.
  [[nodiscard]] static constexpr const char* refuses(GraphModuleView graph, NodeId node) noexcept {
    return refuses_with<Operators>(graph, node);
  }

  /// Errors: unsupported_operator with every node that has no kernel.
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec&,
                                                    DebugHandleRecorder& debug_handles) {
    return preprocess_with<Operators>(method, debug_handles);
  }
  [[nodiscard]] static Result<Handle> compile(const Processed& processed, const CompileSpec&) {
    return compile_with<Operators>(processed);
  }

  /// @name The same with another set of operators, which `Ops` finds as Operators does.
  template <class Ops>
  [[nodiscard]] static constexpr const char* refuses_with(GraphModuleView graph, NodeId node) noexcept {
    return Ops::find(operator_call(graph, graph.nodes[node]).target) == nullptr ? "no portable kernel for this operator" : nullptr;
  }
  template <class Ops>
  [[nodiscard]] static Result<Processed> preprocess_with(const Method& method, DebugHandleRecorder& debug_handles) {
    const GraphModuleView graph = method.view();
    Result<std::shared_ptr<const ProgramBody>> body = make_program_body(method, name, debug_handles);
    if (!body) return std::unexpected(std::move(body.error()));
    Name missing;
    DebugHandle first = no_debug_handle;
    std::size_t count = 0;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      const char* reason = refuses_with<Ops>(graph, id);
      if (reason == nullptr) continue;
      if (first == no_debug_handle) first = (*body)->handles[id];
      if (++count > 50) continue;
      missing = concat(missing, "\n  ", operator_call(graph, graph.nodes[id]).target, " (", reason, ")");
      if (count > 1 && graph.nodes[id].metadata < graph.metadata.size())  // the first one's source is the error's own
        missing = concat(missing, "\n", source_with_caret(graph.str(graph.metadata[graph.nodes[id].metadata].stack_trace)));
    }
    if (count != 0)
      return std::unexpected(Error{.code = ErrorCode::unsupported_operator,
                                   .stage = Stage::preprocess,
                                   .debug_handle = first,
                                   .backend = name,
                                   .what = concat(count, count == 1 ? " node is" : " nodes are", " not supported:", missing),
                                   .fix = "decompose them with run_decompositions() or name a backend that has them"});
    return Processed{*std::move(body)};
  }

  template <class Ops>
  [[nodiscard]] static Result<Handle> compile_with(const Processed& processed);
  [[nodiscard]] static Result<std::size_t> prepare(const Handle& handle, std::span<const EValue> inputs,
                                                   std::span<const EValue> outputs, Workspace& ws);

  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    Workspace& ws = context.workspace();
    ws.memory.reset();
    if (ws.scratch != context.scratch().data()) move_scratch(handle, ws, context.scratch().data());
    if (outputs.size() != handle.made_slots.size())
      return context.fail(ErrorCode::invalid_argument, no_debug_handle, "the method returns ", handle.made_slots.size(), " values, not ",
                          outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (const std::uint32_t slot = handle.made_slots[i]; slot != no_id && ws.given[slot] != 0)
        ws.places[slot].data = outputs[i].is_tensor() ? static_cast<std::byte*>(outputs[i].tensor().data) : nullptr;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (handle.input_slots[i] != no_id) ws.slots[handle.input_slots[i]] = inputs[i];
    const portable_kernels::ArgumentTable& table = handle.arguments;
    for (const Step& step : handle.steps) {
      for (std::uint32_t k = 0; k < step.slots_in.count; ++k) {
        const portable_kernels::ArgumentTable::Slot& from = table.slots[step.slots_in.first + k];
        const EValue& value = ws.slots[from.slot];
        if (!from.takes(value)) [[unlikely]]
          return context.fail(ErrorCode::invalid_argument, step.handle, "an argument is of type '", davit::name_of(value.tag()), "', not a tensor");
        ws.arguments[from.argument] = value;
      }
      const std::span<EValue> out(ws.slots.data() + step.slots_out.first, step.slots_out.count);
      portable_kernels::KernelCall call({ws.arguments.data() + step.arguments.first, step.arguments.count}, out,
                                        {ws.places.data() + step.slots_out.first, step.slots_out.count}, ws.memory);
      context.begin_op(step.handle, step.op);
      const ErrorCode code = step.kernel(call);
      context.end_op(step.handle, step.op);
      if (code != ErrorCode::ok)
        return context.fail(code, step.handle, call.why != nullptr ? std::string_view(call.why) : name_of(code));
      for (std::size_t i = 0; i < out.size(); ++i)
        if (const TensorView* tensor = out[i].tensor_if()) context.memory(step.handle, tensor->nbytes());
    }
    const GraphModuleView graph = handle.body->graph.view();
    const std::span<const Argument> results = graph.args(graph.root().outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const EValue made = result(graph, handle, ws, results[i]);
      if (!outputs[i].is_tensor() || (made.is_tensor() && made.tensor().data == outputs[i].tensor().data)) {
        outputs[i] = made;
      } else if (!fill(outputs[i].tensor(), made)) {
        return context.fail(ErrorCode::invalid_shape, no_debug_handle, "output ", i, " does not have the sizes or the dtype that the program declares");
      }
    }
    return {};
  }

  [[nodiscard]] static std::vector<std::byte> save(const Processed& processed) {
    return save_program_body(*processed.body, [](ByteWriter& out, const Tensor& tensor) { write_tensor(out, tensor); });
  }
  [[nodiscard]] static std::vector<std::byte> save(const Processed& processed, SegmentWriter& segments) {
    return save_program_body(*processed.body, [&](ByteWriter& out, const Tensor& tensor) { write_tensor(out, tensor, segments); });
  }
  [[nodiscard]] static Result<Processed> load(std::span<const std::byte> bytes) {
    return processed_of(load_program_body(bytes, name, [](ByteReader& in) { return read_tensor(in); }));
  }
  [[nodiscard]] static Result<Processed> load(std::span<const std::byte> bytes, const SegmentReader& segments) {
    return processed_of(load_program_body(bytes, name, [&](ByteReader& in) { return read_tensor(in, segments); }));
  }
  [[nodiscard]] static std::vector<std::byte> save_spec(const CompileSpec&) { return {}; }
  [[nodiscard]] static Result<CompileSpec> load_spec(std::span<const std::byte>) { return CompileSpec{}; }

 private:
  [[nodiscard]] static Result<Processed> processed_of(Result<std::shared_ptr<const ProgramBody>> body) {
    if (!body) return std::unexpected(std::move(body.error()));
    return Processed{*std::move(body)};
  }
  [[nodiscard]] static EValue result(GraphModuleView graph, const Handle& handle, const Workspace& ws, const Argument& a) {
    switch (a.kind) {
      case ArgumentKind::value: return ws.slots[handle.slot_of_value[a.value()]];
      case ArgumentKind::int_: return a.payload;
      case ArgumentKind::float_: return a.float_value();
      case ArgumentKind::bool_: return a.payload != 0;
      case ArgumentKind::string: return graph.string(a);
      default: return {};
    }
  }
  /// Copies an output that was made elsewhere to its destination; false if it does not fit.
  [[nodiscard]] static bool fill(const TensorView& destination, const EValue& made) noexcept {
    const TensorView* tensor = made.tensor_if();
    if (tensor == nullptr || tensor->dtype != destination.dtype || !std::ranges::equal(tensor->sizes(), destination.sizes())) return false;
    copy_tensor(*tensor, destination);
    return true;
  }
  static void move_scratch(const Handle& handle, Workspace& ws, std::byte* scratch) noexcept {
    ws.scratch = scratch;
    for (std::size_t i = 0; i < handle.planned_slots.size(); ++i) {
      if (ws.given[handle.planned_slots[i]] != 0) continue;
      portable_kernels::OutputPlace& place = ws.places[handle.planned_slots[i]];
      place.data = place.capacity == 0 ? nullptr : scratch + ws.offsets[i];
    }
  }
  [[nodiscard]] static Error misfit(GraphModuleView graph, const Node& node, DebugHandle handle, Name what) {
    return Error{.code = ErrorCode::invalid_program,
                 .stage = Stage::compile,
                 .debug_handle = handle,
                 .backend = name,
                 .where = concat("operator ", graph.target(node)),
                 .what = std::move(what),
                 .fix = "the node does not fit its operator's schema: export the program again"};
  }
};

template <class Ops>
Result<portable::Handle> portable::compile_with(const Processed& processed) {
  const ProgramBody& body = *processed.body;
  const GraphModuleView graph = body.graph.view();
  const Graph& root = graph.root();
  Handle h{.body = processed.body};
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
    const portable_kernels::OpRow* row = Ops::find(target);
    const std::string_view text = Ops::schema(target);
    if (row == nullptr || text.empty()) return std::unexpected(misfit(graph, node, body.handles[id], "no portable kernel for this operator"));
    if (target != parsed_target) {
      schema = parse_schema(text);
      parsed_target = schema.name;
    }
    Step step{.kernel = row->kernel, .op = row->name, .handle = body.handles[id]};
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
      if (!defined) return std::unexpected(misfit(graph, node, body.handles[id], "an argument is used before it is defined"));
    }
    if (Name wrong = binder.bind(call.inputs, schema, row->takes_numbers); !wrong.empty())
      return std::unexpected(misfit(graph, node, body.handles[id], std::move(wrong)));
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
      if (!fresh) return std::unexpected(misfit(graph, node, body.handles[id], "an output is defined twice"));
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
      return std::unexpected(Error{.code = ErrorCode::invalid_program, .stage = Stage::compile, .backend = name,
                                   .where = "graph outputs", .what = "an output is not defined by any node or input",
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
  return h;
}

inline Result<std::size_t> portable::prepare(const Handle& handle, std::span<const EValue> inputs,
                                             std::span<const EValue> outputs, Workspace& ws) {
  const ProgramBody& body = *handle.body;
  const GraphModuleView graph = body.graph.view();
  const auto no_memory = [](std::string_view what) {
    return std::unexpected(Error{.code = ErrorCode::out_of_memory, .stage = Stage::execute, .backend = name,
                                 .where = "memory plan", .what = Name(what),
                                 .fix = "run with smaller inputs"});
  };
  if (inputs.size() != handle.input_slots.size())
    return std::unexpected(Error{.code = ErrorCode::invalid_argument, .stage = Stage::execute, .backend = name,
                                 .what = concat("the method takes ", handle.input_slots.size(), " inputs, not ", inputs.size()),
                                 .fix = "save the program again"});
  if (ws.slots.empty()) {
    ws.slots.resize(handle.value_of_slot.size());
    ws.places.resize(ws.slots.size());
    ws.given.resize(ws.slots.size());
    ws.arguments = handle.arguments.arguments;
    for (const auto& [argument, first, count] : handle.arguments.lists)
      ws.arguments[argument] = EValue(std::span<const EValue>(ws.arguments.data() + first, count));
    for (const auto& [argument, text] : handle.arguments.strings) ws.arguments[argument] = EValue(graph.str(text));
    for (std::size_t c = 0; c < handle.constant_slots.size(); ++c)
      if (handle.constant_slots[c] != no_id) ws.slots[handle.constant_slots[c]] = EValue(body.constants[c].view());
    for (std::size_t o = 0; o < handle.object_slots.size(); ++o) {
      const std::span<const std::byte> state = body.objects[o].bytes();
      if (handle.object_slots[o] != no_id)
        ws.slots[handle.object_slots[o]] = EValue(std::string_view(reinterpret_cast<const char*>(state.data()), state.size()));
    }
    std::size_t total = 0;
    const auto rank_of = [&](std::size_t slot) -> std::size_t {
      const ValueId v = handle.value_of_slot[slot];
      return v == no_id || graph.values[v].kind != ValueKind::tensor ? max_rank : graph.values[v].sizes.count;
    };
    for (const std::uint32_t s : handle.planned_slots) total += 2 * rank_of(s);
    ws.dims.resize(total);
    std::int64_t* at = ws.dims.data();
    for (const std::uint32_t s : handle.planned_slots) {
      const std::size_t rank = rank_of(s);
      ws.places[s].sizes = at;
      ws.places[s].strides = at + rank;
      ws.places[s].rank_limit = rank;
      at += 2 * rank;
    }
    ws.symbols = SymbolValues(graph.exprs);
  }
  ws.symbols.reset();
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (handle.input_slots[i] == no_id) continue;
      const Value& v = graph.values[handle.value_of_slot[handle.input_slots[i]]];
      if (inputs[i].is_int() && v.expr != no_id && (pass == 1 || graph.exprs[v.expr].op == ExprOp::symbol))
        (void)ws.symbols.bind(v.expr, inputs[i].as_int());
      if (!inputs[i].is_tensor()) continue;
      for (std::uint32_t d = 0; d < v.sizes.count && d < inputs[i].tensor().rank; ++d) {
        const Dim& dim = graph.dims_of(v.sizes)[d];
        if (!dim.is_static() && (pass == 1 || graph.exprs[dim.expr].op == ExprOp::symbol))
          (void)ws.symbols.bind(dim.expr, inputs[i].tensor().size(d));
      }
    }
    ws.symbols.settle();
  }
  std::ranges::fill(ws.given, std::uint8_t{0});
  for (std::size_t i = 0; i < outputs.size() && i < handle.made_slots.size(); ++i)
    if (outputs[i].is_tensor() && handle.made_slots[i] != no_id) ws.given[handle.made_slots[i]] = 1;
  std::vector<Lifetime> lifetimes = handle.lifetimes;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    const ValueId id = handle.value_of_slot[handle.planned_slots[i]];
    std::size_t bytes = 0;
    if (id != no_id && graph.values[id].kind == ValueKind::tensor) {
      std::int64_t count = 1;
      for (const Dim& dim : graph.dims_of(graph.values[id].sizes)) {
        const std::optional<std::int64_t> size = ws.symbols.value(dim);
        if (!size || *size < 0) {
          count = 0;  // depends on data: placed while running
          break;
        }
        if (*size != 0 && count > portable_kernels::max_numel / *size) return no_memory("a tensor of the program is too large");
        count *= *size;
      }
      bytes = static_cast<std::size_t>(count) * size_of(graph.values[id].dtype);
    }
    lifetimes[i].bytes = ws.given[handle.planned_slots[i]] != 0 ? 0 : bytes;
    ws.places[handle.planned_slots[i]].capacity = bytes;
  }
  MemoryPlan plan = plan_memory(lifetimes);
  ws.offsets = std::move(plan.offsets);
  ws.scratch = nullptr;
  return plan.arena_bytes;
}

/// portable with operators of your own. `Custom::operators` is an array of CustomOperator; its names must be new ones.
template <class Custom>
struct portable_with : portable {
  struct Operators {
    [[nodiscard]] static constexpr const portable_kernels::OpRow* find(std::string_view target) noexcept {
      for (const portable_kernels::CustomOperator& op : Custom::operators)
        if (op.row.name == target) return &op.row;
      return portable::Operators::find(target);
    }
    [[nodiscard]] static constexpr std::string_view schema(std::string_view target) noexcept {
      for (const portable_kernels::CustomOperator& op : Custom::operators)
        if (op.row.name == target) return op.schema;
      return portable::Operators::schema(target);
    }
  };
  [[nodiscard]] static constexpr const char* refuses(GraphModuleView graph, NodeId node) noexcept {
    return refuses_with<Operators>(graph, node);
  }
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec&, DebugHandleRecorder& debug_handles) {
    return preprocess_with<Operators>(method, debug_handles);
  }
  [[nodiscard]] static Result<Handle> compile(const Processed& processed, const CompileSpec&) {
    return compile_with<Operators>(processed);
  }
};

}  // namespace davit
