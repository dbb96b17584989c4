// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/kit/finite_guard.hpp"
#include "davit/backends/xnnpack.hpp"
#include "davit/backends/xnnpack/code.hpp"
#include "davit/backends/xnnpack/prepare.hpp"
#include "davit/backends/xnnpack/run_io.hpp"
#include "davit/backends/xnnpack/thread_pool.hpp"
#include "davit/kernels/shapes.hpp"
#include "davit/kernels/thread_team.hpp"

extern "C" const char
    davit_xnnpack_is_not_defined__include_davit_backends_xnnpack_implementation_hpp_in_one_source_file = 0;

namespace davit {

Result<std::size_t> xnnpack::prepare(const Handle& handle, std::span<const EValue> inputs,
                                     std::span<const EValue> outputs, Workspace& ws) {
  if (ws.state == nullptr)
    ws.state = {new xnnpack_parts::Workspace, [](xnnpack_parts::Workspace* state) { delete state; }};
  return xnnpack_parts::prepare_run(handle.code->plan, *handle.code->body, inputs, outputs, *ws.state);
}

namespace xnnpack_parts {

/// True if the guarded inputs are finite and below the limit.
[[nodiscard]] bool inputs_pass_guard(const Plan& plan, std::span<const EValue> inputs) noexcept {
  for (std::size_t i = 0; i < plan.checked_inputs.size(); ++i) {
    const TensorView* const x = plan.checked_inputs[i] != 0 ? inputs[i].tensor_if() : nullptr;
    if (x == nullptr || x->dtype != ScalarType::float32) continue;
    bool ordinary = true;
    if (x->is_contiguous()) {
      ordinary = all_pass_guard(x->as<float>(), x->numel());
    } else {
      kernels::for_each_index<1>(x->sizes(), {kernels::strides_of(*x)}, [&](std::int64_t at) {
        ordinary = ordinary && all_pass_guard(x->as<float>() + at, 1);
      });
    }
    if (!ordinary) return false;
  }
  return true;
}
/// True for a step that is not a check, or whose operand is finite and below the limit.
[[nodiscard]] bool passes_guard(const Plan& plan, const Workspace& ws, const Step& step) noexcept {
  return step.op != Op::check_values ||
         all_pass_guard(reinterpret_cast<const float*>(address(plan, ws, step.in)), extent_of(plan, ws, step.in).count);
}

}  // namespace xnnpack_parts

Status xnnpack::run(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                    Workspace& workspace, std::byte* scratch, std::uint64_t max_memory, RunEvents events) {
  xnnpack_parts::Code& code = *handle.code;
  const xnnpack_parts::Plan& plan = code.plan;
  xnnpack_parts::Workspace& ws = *workspace.state;
  const auto fail = [&](ErrorCode error, DebugHandle at, const auto&... parts) {
    workspace.why = concat(parts...);
    return std::unexpected(Fault(error, at));
  };
  if (outputs.size() != plan.output_slots.size() || inputs.size() != plan.input_values.size())
    return fail(ErrorCode::invalid_argument, no_debug_handle, "the method takes ", plan.input_values.size(),
                " inputs and returns ", plan.output_slots.size(), " values");
  if (plan.always_falls_back || !ws.is_planned || !xnnpack_parts::inputs_pass_guard(plan, inputs)) [[unlikely]]
    return ws.exact.run(code.body, inputs, outputs, max_memory, events, workspace.why);
  set_addresses(plan, ws, inputs, outputs, scratch);
  const xnnpack_parts::EnginePool::Turn turn = code.turns.take([&] {
    Result<std::unique_ptr<xnnpack_parts::Engine>> made =
        xnnpack_parts::Engine::make(plan, code.body->handles, code.pool);
    return made ? *std::move(made) : nullptr;
  });
  // davit's own kernels run on the pool's threads, here and in the list's other partitions
  const kernels::TeamScope team(
      code.pool == nullptr
          ? nullptr
          : kernels::lend_team(pthreadpool_get_threads_count(code.pool.get()), xnnpack_parts::run_on_pool, code.pool));
  const GraphModuleView graph = code.body->graph.view();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const NodeId node = plan.steps[i].node;
    const DebugHandle at = node < code.body->handles.size() ? code.body->handles[node] : no_debug_handle;
    if (const char* const why = events.stop_reason()) [[unlikely]]
      return fail(ErrorCode::cancelled, at, why);
    if (plan.exact && !xnnpack_parts::passes_guard(plan, ws, plan.steps[i])) [[unlikely]]
      return ws.exact.run(code.body, inputs, outputs, max_memory, events, workspace.why);
    if (plan.steps[i].op == xnnpack_parts::Op::check_values) continue;
    const bool traced = events.are_traced() && at != no_debug_handle;
    if (traced) events.begin_op(at, graph.target(graph.nodes[node]));
    const bool done = turn.engine->run(plan, ws, i);
    if (traced) events.end_op(at, graph.target(graph.nodes[node]));
    if (!done && plan.steps[i].op == xnnpack_parts::Op::kernel)  // portable reports a kernel's refusal
      return ws.exact.run(code.body, inputs, outputs, max_memory, events, workspace.why);
    if (!done) return fail(ErrorCode::failed, at, "XNNPACK does not run this operator on these sizes");
  }
  return_outputs(graph, plan, ws, outputs);
  return {};
}

constinit const BackendTable detail::TableOf<xnnpack>::table = detail::BackendCalls<xnnpack>::table();

}  // namespace davit
