// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "davit/runtime/detail/control_flow.hpp"
#include "davit/runtime/detail/run_graph.hpp"
#include "davit/runtime/method_state.hpp"
#include "davit/runtime/prepare_delegate.hpp"

namespace davit::detail {

[[gnu::noinline]] void fault(const MethodState& m, const DelegateState& d, Fault status, Error& error) {
  error = m.context->debug_map->explain(Error{.code = status.code(),
                                              .stage = Stage::execute,
                                              .debug_handle = status.debug_handle(),
                                              .backend = Name(d.backend->name),
                                              .what = std::exchange(m.context->report.text, {})});
  if (error.where.empty()) error.where = place_of(m, d);
}

/// Fast test of a returned tensor. Also false for a tensor without elements, which the thorough check then accepts.
inline constexpr auto has_memory = [](const TensorView& tensor) { return tensor.data != nullptr; };

/// Runs any partition on its call's arguments, with tracer events.
[[nodiscard, gnu::noinline]] Status execute_any(DelegateState& d) {
  if (!d.call.outputs.empty()) place_outputs(d);
  if (d.call.tracer == nullptr) return d.execute(d.call);
  TracerRef& tracer = *d.call.tracer;
  tracer.begin_delegate(d.lowered->tag, d.backend->name);
  const Status status = d.execute(d.call);
  tracer.end_delegate(d.lowered->tag, d.backend->name);
  if (status) tracer.delegate_outputs(d.lowered->tag, d.call.outputs);
  return status;
}

[[gnu::noinline]] bool is_there(const MethodState& m, const DelegateState& d, Error& error) {
  if (d.backend->is_available()) return true;
  error = not_available(Stage::execute, d.backend->name);
  error.where = place_of(m, d);
  return false;
}

/// Checks that the backend is available, and prepares it if sizes have changed.
[[nodiscard, gnu::noinline]] bool prepare(const MethodState& m, DelegateState& d, Error& error) {
  const std::string_view name = d.backend->name;
  if (d.call.handle == nullptr) {
    error = Error{
        .code = ErrorCode::not_available,
        .stage = Stage::execute,
        .backend = Name(name),
        .where = place_of(m, d),
        .what = concat("the partition was lowered while backend ", name, " was not available, and so is not compiled"),
        .fix = "save the program and load it where the backend is available"};
    return false;
  }
  if (!d.always_runs && !is_there(m, d, error)) return false;  // for other partitions the run has checked this already
  const bool changed = d.sizes.changed(d.lowered->interface.inputs, d.call.inputs);
  if (d.ready && !changed) return true;
  d.ready = false;
  for (EValue& output : d.call.outputs) output.clear();  // no destinations
  if (Result<void> prepared = prepare_delegate(*d.backend, d.call.handle, d.call.inputs, d.call.outputs,
                                               d.call.workspace, d.own_scratch, d.call.max_memory);
      !prepared) {
    error = std::move(prepared.error());
    if (error.where.empty()) error.where = place_of(m, d);
    return false;
  }
  d.call.scratch = d.own_scratch.span();
  d.ready = true;
  d.direct = !d.dynamic && d.can_be_direct();
  return true;
}

/// Checks values passed between partitions. Symbolic sizes are checked by the consumers' kernels and as outputs of the
/// method.
[[nodiscard, gnu::noinline]] bool check_outputs(const MethodState& m, const DelegateState& d, Error& error) {
  Result<void> checked =
      check_output_values(m.method->name, d.backend->name, d.lowered->interface, d.call.outputs, d.unknown);
  if (checked && have_memory(d.call.outputs)) return true;
  if (checked) {
    error = without_memory(place_of(m, d));
    error.backend = Name(d.backend->name);
    return false;
  }
  error = std::move(checked.error());
  error.where = concat(error.where, ", partition '", d.lowered->tag, "'");
  return false;
}

/// Calls a partition that needs gathering, scattering or preparation.
[[nodiscard, gnu::noinline]] bool gather_and_call(MethodState& m, DelegateState& d, Error& error) {
  EValue* const values = m.slots.data();
  if (!may_go_on(m, [&] { return place_of(m, d); }, error)) return false;
  for (std::size_t i = 0; i < d.input_slots.size(); ++i) d.inputs[i] = values[d.input_slots[i]];
  if (!d.ready || (d.dynamic && !d.planned)) {
    if (!prepare(m, d, error)) return false;
  } else if (d.backend->is_available_fn != nullptr && !d.always_runs && !is_there(m, d, error)) {
    return false;
  }
  if (const Status status = execute_any(d); !status) {
    fault(m, d, status.error(), error);
    return false;
  }
  if (!d.checks.match(d.call.outputs, has_memory))
    if (!check_outputs(m, d, error)) return false;
  for (std::size_t i = 0; i < d.output_slots.size(); ++i) values[d.output_slots[i]] = d.call.outputs[i];
  return true;
}

bool run_graph(MethodState& m, GraphId graph, int depth, Error& error) {
  const Range steps = m.schedule->graphs[graph].steps;
  StepCall* const* const first = m.calls.data() + steps.first;
  for (StepCall* const* at = first; at != first + steps.count; ++at) {
    if (!(*at)->direct) [[unlikely]] {
      const bool done =
          *at == &control_flow_call
              ? run_control_flow(m, m.schedule->steps[static_cast<std::size_t>(at - m.calls.data())], depth, error)
              : gather_and_call(m, static_cast<DelegateState&>(**at), error);
      if (!done) return false;
      continue;
    }
    auto& d = static_cast<DelegateState&>(**at);
    if (const Status status = execute(d); !status) [[unlikely]] {
      fault(m, d, status.error(), error);
      return false;
    }
    if (!d.checks.match_tensors(d.call.outputs.data(), has_memory) && !check_outputs(m, d, error)) return false;
  }
  return true;
}

}  // namespace davit::detail
