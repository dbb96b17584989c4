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

#include "davit/backend/memory_plan.hpp"
#include "davit/backend/program_body.hpp"
#include "davit/backends/kit/default_threads.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/portable/run_time/code.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/core/bytes.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/kernels/shapes.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/symbols.hpp"

namespace davit {

namespace portable_kernels {

/// The value of one of the graph's outputs.
[[nodiscard]] EValue result_of(const Code& code, const RunState& ws, const Argument& a) {
  switch (a.kind) {
    case ArgumentKind::value: return ws.slots[code.slot_of_value[a.value()]];
    case ArgumentKind::int_: return a.payload;
    case ArgumentKind::float_: return a.float_value();
    case ArgumentKind::bool_: return a.payload != 0;
    case ArgumentKind::string: return code.body->graph.view().string(a);
    default: return {};
  }
}
/// Updates addresses after the scratch has moved since the last run.
void move_scratch(const Code& code, RunState& ws, std::byte* scratch) noexcept {
  ws.scratch = scratch;
  for (std::size_t i = 0; i < code.planned_slots.size(); ++i) {
    if (ws.given[code.planned_slots[i]] != 0) continue;
    OutputPlace& place = ws.places[code.planned_slots[i]];
    place.data = place.capacity == 0 ? nullptr : scratch + ws.offsets[i];
  }
}

/// The dtypes of a call's tensors, behind the sentence of a kernel that refuses them: "; given are float32 and int64".
[[nodiscard]] Name operand_dtypes(const KernelCall& call) {
  Name text;
  for (std::size_t i = 0; i < call.arg_count(); ++i)
    if (const TensorView* tensor = call.arg(i).tensor_if(); tensor != nullptr)
      text = concat(text, text.empty() ? "; given are " : " and ", davit::name_of(tensor->dtype));
  return text;
}

/// Describes a result of a user's kernel that contradicts the program; empty if there is none.
[[nodiscard]] Name wrong_result(const Code& code, const RunState& ws, const Step& step) {
  const GraphModuleView graph = code.body->graph.view();
  for (std::uint32_t i = 0; i < step.slots_out.count; ++i) {
    const ValueId v = code.value_of_slot[step.slots_out.first + i];
    if (v == no_id || graph.values[v].kind != ValueKind::tensor) continue;
    const TensorView* const made = ws.slots[step.slots_out.first + i].tensor_if();
    if (made == nullptr) return concat("the kernel of ", step.op, " made no tensor ", i);
    if (made->dtype != graph.values[v].dtype)
      return concat("the kernel of ", step.op, " made tensor ", i, " of ", davit::name_of(made->dtype),
                    ", the program declares ", davit::name_of(graph.values[v].dtype));
    const std::span<const Dim> dims = graph.dims_of(graph.values[v].sizes);
    bool fits = made->rank == dims.size();
    for (std::size_t d = 0; fits && d < dims.size(); ++d) fits = !dims[d].is_static() || dims[d].value == made->size(d);
    if (!fits)
      return concat("the kernel of ", step.op, " made tensor ", i, " of other sizes than the program declares");
  }
  return {};
}

}  // namespace portable_kernels

void portable::set_threads(std::uint32_t threads) noexcept { set_default_threads<portable>(threads); }

const char* portable::refuses_with(const portable_kernels::OpSet& set, GraphModuleView graph, NodeId node) noexcept {
  const std::string_view target = called_operator(graph, graph.nodes[node]);
  const portable_kernels::FoundOp found = portable_kernels::find_op(set, graph, node, target);
  if (found.row == nullptr && found.group != OperatorGroup::of_family && !set.has(found.group))
    return portable_kernels::absence_of_group(found.group);
  if (found.row == nullptr)
    return portable_kernels::find_op(set, target).row == nullptr
               ? "no portable kernel for this operator"
               : "the portable kernel of this operator takes no complex numbers";
  if (found.group != OperatorGroup::of_family && graph.target(graph.nodes[node]) == "higher_order.auto_functionalized")
    return "portable runs only operators of your own in this form";
  return nullptr;
}

Result<portable::Processed> portable::preprocess_with(const portable_kernels::OpSet& set, const Method& method,
                                                      DebugHandleRecorder& debug_handles) {
  const GraphModuleView graph = method.view();
  Result<std::shared_ptr<const ProgramBody>> body = make_program_body(method, name, debug_handles);
  if (!body) return error_of(std::move(body));
  Name missing;
  DebugHandle first = no_debug_handle;
  std::size_t count = 0;
  bool has_foreign = false;  // a user's operator
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const char* reason = refuses_with(set, graph, id);
    if (reason == nullptr) continue;
    if (first == no_debug_handle) first = (*body)->handles[id];
    if (++count > 50) continue;
    const std::string_view target = called_operator(graph, graph.nodes[id]);
    has_foreign = has_foreign || !(target.starts_with("aten.") || target.starts_with("higher_order."));
    missing = concat(missing, "\n  ", target, " (", reason, ")");
    if (count > 1 && graph.nodes[id].metadata < graph.metadata.size())  // the first node's source is the error's own
      missing =
          concat(missing, "\n", source_with_caret(graph.str(graph.metadata[graph.nodes[id].metadata].stack_trace)));
  }
  if (count == 0) return Processed{*std::move(body)};
  Name groups = portable_kernels::groups_fix(set, graph);
  return std::unexpected(
      Error{.code = ErrorCode::unsupported_operator,
            .stage = Stage::preprocess,
            .debug_handle = first,
            .backend = name,
            .what = concat(count, count == 1 ? " node is" : " nodes are", " not supported:", missing),
            .fix = !groups.empty() ? std::move(groups)
                   : has_foreign
                       ? Name("give operators of your own kernels with portable_with, or name a backend that has them")
                       : Name("decompose them with run_decompositions() or name a backend that has them")});
}

Result<std::size_t> portable::prepare(const Handle& handle, std::span<const EValue> inputs,
                                      std::span<const EValue> outputs, Workspace& workspace) {
  const portable_kernels::Code& h = *handle.code;
  const ProgramBody& body = *h.body;
  const GraphModuleView graph = body.graph.view();
  const auto no_memory = [](std::string_view what) {
    return std::unexpected(Error{.code = ErrorCode::out_of_memory,
                                 .stage = Stage::execute,
                                 .backend = name,
                                 .where = "memory plan",
                                 .what = Name(what),
                                 .fix = "run with smaller inputs"});
  };
  if (inputs.size() != h.input_slots.size())
    return std::unexpected(
        Error{.code = ErrorCode::invalid_argument,
              .stage = Stage::execute,
              .backend = name,
              .what = concat("the method takes ", h.input_slots.size(), " inputs, not ", inputs.size()),
              .fix = "save the program again"});
  if (workspace.state == nullptr) {
    decltype(workspace.state) made{new portable_kernels::RunState,
                                   [](portable_kernels::RunState* state) { delete state; }};
    portable_kernels::RunState& ws = *made;
    ws.slots.resize(h.value_of_slot.size());
    ws.places.resize(ws.slots.size());
    ws.given.resize(ws.slots.size());
    ws.arguments = h.arguments.arguments;
    for (const auto& [argument, first, count] : h.arguments.lists)
      ws.arguments[argument] = EValue(std::span<const EValue>(ws.arguments.data() + first, count));
    for (const auto& [argument, text] : h.arguments.strings) ws.arguments[argument] = EValue(graph.str(text));
    for (std::size_t c = 0; c < h.constant_slots.size(); ++c)
      if (h.constant_slots[c] != no_id)
        ws.slots[h.constant_slots[c]] = portable_kernels::with_address(EValue(body.constants[c].view()));
    for (std::size_t o = 0; o < h.object_slots.size(); ++o) {
      const std::span<const std::byte> state = body.objects[o].bytes();
      if (h.object_slots[o] != no_id)
        ws.slots[h.object_slots[o]] =
            EValue(std::string_view(reinterpret_cast<const char*>(state.data()), state.size()));
    }
    std::size_t total = 0;
    const auto rank_of = [&](std::size_t slot) -> std::size_t {
      const ValueId v = h.value_of_slot[slot];
      return v == no_id || graph.values[v].kind != ValueKind::tensor ? max_rank : graph.values[v].sizes.count;
    };
    for (const std::uint32_t s : h.planned_slots) total += 2 * rank_of(s);
    ws.dims.resize(total);
    std::int64_t* at = ws.dims.data();
    for (const std::uint32_t s : h.planned_slots) {
      const std::size_t rank = rank_of(s);
      ws.places[s].sizes = at;
      ws.places[s].strides = at + rank;
      ws.places[s].rank_limit = rank;
      at += 2 * rank;
    }
    ws.symbols = SymbolValues(graph.exprs);
    (void)kernels::team_of_this_thread(h.threads);  // now instead of in the first run
    workspace.state = std::move(made);              // only if everything succeeded
  }
  portable_kernels::RunState& ws = *workspace.state;
  ws.symbols.reset();
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (h.input_slots[i] == no_id) continue;
      const Value& v = graph.values[h.value_of_slot[h.input_slots[i]]];
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
  for (std::size_t i = 0; i < outputs.size() && i < h.made_slots.size(); ++i)
    if (outputs[i].is_tensor() && h.made_slots[i] != no_id) ws.given[h.made_slots[i]] = 1;
  std::vector<Lifetime> lifetimes = h.lifetimes;
  std::size_t total = 0;
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    const ValueId id = h.value_of_slot[h.planned_slots[i]];
    const bool is_given = ws.given[h.planned_slots[i]] != 0;
    std::size_t bytes = 0;
    bool is_known = false;  // else data-dependent: placed during the run
    if (id != no_id && (is_given || h.takes_none[i] == 0) && graph.values[id].kind == ValueKind::tensor) {
      kernels::Sizes sizes;
      is_known = true;
      for (const Dim& dim : graph.dims_of(graph.values[id].sizes)) {
        const std::optional<std::int64_t> size = ws.symbols.value(dim);
        is_known = is_known && size && *size >= 0 && sizes.push(*size);
      }
      const std::int64_t count = is_known ? checked_numel(sizes, portable_kernels::max_numel) : 0;
      if (count < 0) return no_memory("a tensor of the program is too large");
      bytes = static_cast<std::size_t>(count) * size_of(graph.values[id].dtype);
    }
    total += bytes;
    if (total > max_plan_bytes) return no_memory("the tensors of the program are too large");
    lifetimes[i].bytes = is_given ? 0 : bytes;
    ws.places[h.planned_slots[i]].capacity = bytes;
    ws.places[h.planned_slots[i]].is_destination = is_given && is_known;
  }
  for (std::size_t i = 0; i < outputs.size() && i < h.made_slots.size();
       ++i) {  // a destination may be smaller than the graph says
    if (!outputs[i].is_tensor() || h.made_slots[i] == no_id) continue;
    std::size_t& capacity = ws.places[h.made_slots[i]].capacity;
    capacity = std::min(capacity, outputs[i].tensor().nbytes());
  }
  MemoryPlan plan = plan_memory(lifetimes);
  ws.offsets = std::move(plan.offsets);
  ws.scratch = nullptr;
  return plan.arena_bytes;
}

Status portable::run(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                     Workspace& workspace, std::byte* scratch, std::uint64_t max_memory, UndoLog* undo,
                     RunEvents events) {
  const portable_kernels::Code& h = *handle.code;
  portable_kernels::RunState& ws = *workspace.state;
  const auto fail = [&](ErrorCode code, DebugHandle at, const auto&... parts) {
    workspace.why = concat(parts...);
    return std::unexpected(Fault(code, at));
  };
  ws.memory.reset();
  ws.memory.set_limit(max_memory);
  if (ws.scratch != scratch) portable_kernels::move_scratch(h, ws, scratch);
  if (outputs.size() != h.made_slots.size())
    return fail(ErrorCode::invalid_argument, no_debug_handle, "the method returns ", h.made_slots.size(),
                " values, not ", outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const std::uint32_t slot = h.made_slots[i]; slot != no_id && ws.given[slot] != 0)
      ws.places[slot].data = outputs[i].is_tensor() ? static_cast<std::byte*>(outputs[i].tensor().data) : nullptr;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (h.input_slots[i] != no_id) ws.slots[h.input_slots[i]] = portable_kernels::with_address(inputs[i]);
  const portable_kernels::ArgumentTable& table = h.arguments;
  const kernels::TeamScope team(h.threads > 1 ? kernels::team_of_this_thread(h.threads) : nullptr);
  const StopCondition* const stop = events.stop();
  for (const portable_kernels::Step& step : h.steps) {
    if (stop != nullptr) [[unlikely]]
      if (const char* const why = stop->reason()) return fail(ErrorCode::cancelled, step.handle, why);
    for (std::uint32_t k = 0; k < step.slots_in.count; ++k) {
      const portable_kernels::ArgumentTable::Slot& from = table.slots[step.slots_in.first + k];
      const EValue& value = ws.slots[from.slot];
      if (!from.takes(value)) [[unlikely]]
        return fail(ErrorCode::invalid_argument, step.handle, "an argument is of type '", davit::name_of(value.tag()),
                    "', not a tensor");
      ws.arguments[from.argument] = value;
    }
    const std::span<EValue> out(ws.slots.data() + step.slots_out.first, step.slots_out.count);
    portable_kernels::KernelCall call({ws.arguments.data() + step.arguments.first, step.arguments.count}, out,
                                      {ws.places.data() + step.slots_out.first, step.slots_out.count}, ws.memory);
    call.undo = undo;
    call.epilogue = step.epilogue == no_id ? nullptr : &h.tails[step.epilogue];
    call.reads_state = step.reads_state;
    events.begin_op(step.handle, step.op);
    const ErrorCode code = step.kernel(call);
    events.end_op(step.handle, step.op);
    if (code != ErrorCode::ok)
      return fail(code, step.handle, call.why != nullptr ? std::string_view(call.why) : name_of(code),
                  code == ErrorCode::invalid_dtype ? portable_kernels::operand_dtypes(call) : Name());
    if (step.is_own) [[unlikely]]
      if (const Name wrong = portable_kernels::wrong_result(h, ws, step); !wrong.empty())
        return fail(ErrorCode::failed, step.handle, wrong);
    if (!events.are_traced()) continue;
    for (const EValue& made : out)
      if (const TensorView* tensor = made.tensor_if()) events.memory(step.handle, tensor->nbytes());
  }
  const GraphModuleView graph = h.body->graph.view();
  const std::span<const Argument> results = graph.args(graph.root().outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const EValue made = portable_kernels::result_of(h, ws, results[i]);
    if (!outputs[i].is_tensor() || (made.is_tensor() && made.tensor().data == outputs[i].tensor().data)) {
      outputs[i] = made;
    } else if (!made.is_tensor() || !copy_if_same(made.tensor(), outputs[i].tensor())) {
      return fail(ErrorCode::invalid_shape, no_debug_handle, "output ", i,
                  " does not have the sizes or the dtype that the program declares");
    }
  }
  return {};
}

bool portable::updates_input(const Handle& handle, std::size_t input, std::size_t output) noexcept {
  return output < handle.code->updated_inputs.size() && handle.code->updated_inputs[output] == input;
}

std::vector<std::byte> portable::save(const Processed& processed, SegmentWriter& segments) {
  return save_program_body(*processed.body, segments);
}
Result<portable::Processed> portable::load(std::span<const std::byte> bytes, const SegmentReader& segments) {
  Result<std::shared_ptr<const ProgramBody>> body = load_program_body(bytes, segments, name);
  if (!body) return error_of(std::move(body));
  return Processed{*std::move(body)};
}

std::vector<std::byte> portable::save_spec(const CompileSpec& spec) {
  ByteWriter out;
  if (spec.threads != 0) out.number(spec.threads);
  return std::move(out).take();
}
Result<portable::CompileSpec> portable::load_spec(std::span<const std::byte> bytes) {
  if (bytes.empty()) return CompileSpec{};
  ByteReader in(bytes);
  const CompileSpec spec{.threads = in.number<std::uint32_t>()};
  if (!in.ok() || spec.threads > 1024)
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .backend = name,
                                 .where = "compile spec",
                                 .what = "it holds no number of threads",
                                 .fix = "save the program again"});
  return spec;
}

}  // namespace davit
