// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "davit/core/copy_tensor.hpp"
#include "davit/runtime/method_state.hpp"

namespace davit::detail {

DelegateState::DelegateState(const BackendTable& table, const LoweredDelegate& lowered_, TextReport& report,
                             TracerRef* tracer)
    : dynamic(!lowered_.interface.is_static()),
      execute(tracer != nullptr ? table.execute_traced : table.execute),
      backend(&table),
      lowered(&lowered_),
      unknown(lowered_.interface.exprs),
      workspace(table.make_workspace()) {
  unknown.settle();
  for (const OutputPort& port : lowered->interface.outputs) checks.add(port.type, false);
  call.handle = lowered->handle.get();
  call.workspace = workspace.get();
  call.report = &report;
  call.tracer = tracer;
}

[[nodiscard]] bool are_neighbours(std::span<const std::uint32_t> slots) noexcept {
  for (std::size_t i = 1; i < slots.size(); ++i)
    if (slots[i] != slots[i - 1] + 1) return false;
  return true;
}

void DelegateState::connect(std::span<EValue> values, std::span<const std::uint32_t> in,
                            std::span<const std::uint32_t> out) {
  const auto place = [&](std::span<const std::uint32_t> slots, std::vector<EValue>& own) {
    if (are_neighbours(slots)) return values.subspan(slots.empty() ? 0 : slots[0], slots.size());
    own.resize(slots.size());
    return std::span<EValue>(own);
  };
  inputs = place(in, own_inputs);
  call.inputs = inputs;
  call.outputs = place(out, own_outputs);
  if (!own_inputs.empty()) input_slots = in;
  if (!own_outputs.empty()) output_slots = out;
}

MethodState::MethodState(BackendTables backends, const LoweredMethod& lowered, std::span<NamedTensor> state,
                         RunContext& shared)
    : method(&lowered),
      schedule(&lowered.schedule),
      context(&shared),
      frame(lowered.name, {}, lowered.interface, state),
      overwritten(lowered.interface.inputs.size(), lowered.interface.outputs.size(), frame.changed_state(state)) {
  delegates.reserve(lowered.delegates.size());
  for (const LoweredDelegate& delegate : lowered.delegates) {
    DelegateCall& call =
        delegates.emplace_back(backends[delegate.backend], delegate, shared.report, shared.tracer.get()).call;
    call.max_memory = shared.limits.max_memory;
    call.undo = &shared.undo;
  }
  loops.resize(schedule->steps.size());
  slots.resize(schedule->slot_count);
  views.assign(delegates.size(), 0);
  for (std::size_t d = 0; d < views.size(); ++d) views[d] = delegates[d].may_view() ? 1 : 0;
  if (!lowered.storage_matters) plan = plan_lifetimes(lowered.schedule, views);
  calls.assign(schedule->steps.size(), &control_flow_call);
  for (std::size_t i = 0; i < schedule->steps.size(); ++i) {
    const ScheduleStep& step = schedule->steps[i];
    if (step.kind != StepKind::call_delegate) continue;
    calls[i] = &delegates[step.delegate];
    delegates[step.delegate].connect(slots, schedule->at(step.inputs), schedule->at(step.outputs));
  }
  fill_slots();
  if (is_one_call()) only = static_cast<DelegateState*>(calls[0]);
  const Range root = schedule->graphs.empty() ? Range{} : schedule->graphs[root_graph].steps;
  for (std::uint32_t i = root.first; i < root.first + root.count && i < calls.size(); ++i) {
    if (calls[i] == &control_flow_call) continue;
    auto& d = static_cast<DelegateState&>(*calls[i]);
    d.always_runs = true;
    if (d.backend->is_available_fn != nullptr &&
        std::ranges::find(asked, d.backend, &DelegateState::backend) == asked.end())
      asked.push_back(&d);
  }
}

/// True if the method passes all its inputs to one partition and returns all outputs of that partition.
bool MethodState::is_one_call() const noexcept {
  if (schedule->steps.size() != 1 || calls[0] == &control_flow_call || schedule->graphs.size() != 1) return false;
  const auto same = [](std::span<const std::uint32_t> a, const std::vector<std::uint32_t>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  };
  return same(schedule->at(schedule->steps[0].inputs), schedule->input_slots) &&
         same(schedule->at(schedule->steps[0].outputs), schedule->output_slots);
}

[[nodiscard]] EValue literal_value(GraphModuleView graph, const Argument& a) noexcept {
  switch (a.kind) {
    case ArgumentKind::int_: return a.payload;
    case ArgumentKind::float_: return a.float_value();
    case ArgumentKind::bool_: return a.payload != 0;
    case ArgumentKind::string: return graph.string(a);
    default: return {};
  }
}

/// Fills the slots that never change: constants of the parent, and literals.
void MethodState::fill_slots() {
  const ExportedProgram& parent = method->parent;
  const std::vector<InputSpec>& specs = parent.signature.input_specs;
  const std::span<const std::uint32_t> in = schedule->at(schedule->graphs[root_graph].inputs);
  const std::vector<InputRole> roles = input_roles(parent.signature);
  const TensorIndex tensors(parent);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (roles[i] != InputRole::constant) continue;
    if (const Tensor* tensor = tensors.find(*target(specs[i]))) slots[in[i]] = EValue(tensor->view());
  }
  for (const Schedule::Literal& literal : schedule->literals)
    slots[literal.slot] = literal_value(parent.view(), literal.argument);
}

void MethodState::follow_state(std::span<const NamedTensor> state) {
  note_moved();
  if (state_version == context->state_version) return;
  overwritten.set_state(frame.changed_state(state));
  state_version = context->state_version;
  moved = true;
}

void MethodState::set_stop() noexcept {
  ready_call = nullptr;
  for (DelegateState& d : delegates) {
    d.call.stop = context->stop.is_set() ? &context->stop : nullptr;
    d.direct = d.ready && (d.planned || !d.dynamic) && d.can_be_direct();
  }
}

void OverwrittenMemory::note_callers_dims(std::span<const EValue> passed, std::span<const EValue> inputs) {
  callers_dims_.clear();
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].is_tensor() && inputs[k].tensor().sizes_data == passed[k].tensor().sizes_data)
      callers_dims_.insert(callers_dims_.end(), {inputs[k].tensor().sizes_data, inputs[k].tensor().strides_data});
  std::ranges::sort(callers_dims_);
}

void OverwrittenMemory::note(std::span<const EValue> passed, std::span<const EValue> inputs,
                             std::span<const EValue> outputs) {
  if (std::exchange(replaced_, false)) std::swap(copies_[0], copies_[1]);
  own_.clear();
  dims_.clear();
  callers_.clear();
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].is_tensor() && inputs[k].tensor().data == passed[k].tensor().data)
      callers_.add(memory_range(inputs[k].tensor()));
  callers_.expect(outputs.size());
  MemoryRange all;
  std::size_t tensors = 0;
  bool dims_known = false;
  for (const EValue& output : outputs) {
    if (!output.is_tensor()) continue;
    at_[tensors++] = output.tensor().data;
    const MemoryRange made = memory_range(output.tensor());
    if (made.begin == made.end || callers_.meet(made)) {
      if (output.tensor().rank == 0) continue;
      if (!std::exchange(dims_known, true)) note_callers_dims(passed, inputs);
      for (const std::int64_t* const dims : {output.tensor().sizes_data, output.tensor().strides_data})
        if (!std::ranges::binary_search(callers_dims_, dims)) dims_.push_back(dims);
      continue;
    }
    all = own_.empty() ? made : MemoryRange{std::min(all.begin, made.begin), std::max(all.end, made.end)};
    own_.add(made);
  }
  own_.expect(outputs.size());
  std::ranges::sort(dims_);
  first_ = reinterpret_cast<std::uintptr_t>(all.begin);
  size_ = static_cast<std::uintptr_t>(all.end - all.begin);
}

std::optional<std::span<const EValue>> OverwrittenMemory::replace(std::span<const EValue> values) {
  const auto lies_there = [&](const TensorView& tensor) { return is_state(tensor) || own_.meet(memory_range(tensor)); };
  const auto is_kept = [&](const EValue& value) {
    return !value.is_tensor() || (!lies_there(value.tensor()) && !holds_dims(value.tensor()));
  };
  if (std::ranges::all_of(values, is_kept)) return values;
  values_.assign(values.begin(), values.end());
  replaced_ = true;
  std::vector<Copy>& copies = copies_[1];
  copies.resize(std::max(copies.size(), values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_tensor()) continue;
    const TensorView& from = values[i].tensor();
    if (lies_there(from)) {
      if (!reuse_tensor(copies[i].tensor, from.dtype, from.sizes())) return std::nullopt;
      copy_tensor(from, copies[i].tensor.view());
      values_[i] = EValue(copies[i].tensor.view());
    } else if (holds_dims(from)) {
      std::vector<std::int64_t>& dims = copies[i].dims;
      dims.assign(from.sizes().begin(), from.sizes().end());
      dims.insert(dims.end(), from.strides().begin(), from.strides().end());
      values_[i] = EValue(TensorView{from.data, dims.data(), dims.data() + from.rank, from.rank, from.dtype});
    }
  }
  return values_;
}

Name place_of(const MethodState& m, const DelegateState& d) { return place_of(m.method->name, *d.lowered); }

}  // namespace davit::detail
