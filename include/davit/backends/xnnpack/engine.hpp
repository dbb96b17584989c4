// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/backends/portable/run_time/kernel_step.hpp"
#include "davit/backends/xnnpack/create_operator.hpp"
#include "davit/backends/xnnpack/run_copy.hpp"
#include "davit/backends/xnnpack/setup_operator.hpp"
#include "davit/backends/xnnpack/thread_pool.hpp"

namespace davit::xnnpack_parts {

/// XNNPACK's operators for the steps of a plan, with packed weights and the state of their last setup.
///
/// An operator keeps its weights and its pointers in one object, so only one run at a time may use an engine.
class Engine {
 public:
  /// Errors: unsupported_argument if XNNPACK refuses an operator, out_of_memory.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> make(const Plan& plan, std::span<const DebugHandle> handles,
                                                            ThreadPool pool) {
    auto engine = std::make_unique<Engine>();
    engine->pool_ = std::move(pool);
    engine->states_.resize(plan.steps.size());
    for (const KernelRow& row : plan.kernels) engine->kernels_.push_back({.step = row.step});
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      if (is_own(step)) continue;
      const xnn_status status = create_operators(plan, step, engine->states_[i].parts);
      if (status == xnn_status_success) continue;
      return std::unexpected(
          Error{.code = status == xnn_status_out_of_memory ? ErrorCode::out_of_memory : ErrorCode::unsupported_argument,
                .stage = Stage::compile,
                .debug_handle = step.node < handles.size() ? handles[step.node] : no_debug_handle,
                .backend = "xnnpack",
                .what = concat("XNNPACK does not make this operator: ", name_of(status)),
                .fix = "leave the node to another backend"});
    }
    return engine;
  }

  /// Runs one step of the plan; false if XNNPACK refuses it.
  [[nodiscard]] bool run(const Plan& plan, const Workspace& ws, std::size_t index) {
    const Step& step = plan.steps[index];
    if (step.op == Op::kernel) return run_kernel(plan, ws, step);
    if (extent_of(plan, ws, step.out).count == 0) return true;
    if (step.op == Op::copy) {
      run_copy(plan, ws, step);
      return true;
    }
    State& state = states_[index];
    const std::array<std::byte*, 2> at{address(plan, ws, step.in), address(plan, ws, step.out)};
    if (state.generation != ws.generation || state.at != at) {
      const bool resized = state.generation != ws.generation;
      state.generation = 0;
      state.pool = pool_for(plan, ws, step);
      for (OperatorPart& part : state.parts)
        if (setup_operator(plan, ws, step, part, resized, at, state.pool) != xnn_status_success) return false;
      state.generation = ws.generation;
      state.at = at;
    }
    for (const OperatorPart& part : state.parts)
      if (xnn_run_operator(part.op.get(), state.pool) != xnn_status_success) return false;
    return true;
  }

 private:
  /// A call of one of portable's kernels, and the sizes of its last setup.
  struct KernelSlot {
    portable_kernels::KernelStep step{};
    std::optional<portable_kernels::KernelState> state{};
    std::uint64_t generation = 0;
  };
  [[nodiscard]] bool run_kernel(const Plan& plan, const Workspace& ws, const Step& step) {
    const KernelRow& row = plan.kernels[step.weights];
    KernelSlot& slot = kernels_[step.weights];
    if (slot.generation != ws.generation) {
      lay_out(plan, ws, row, slot.step);
      slot.state.emplace(slot.step);
      slot.generation = ws.generation;
    }
    return slot.state->run(slot.step, kernel_memory_,
                           [&](std::size_t i) -> void* { return address(plan, ws, row.slots[i]); });
  }
  /// Sets the sizes and strides of a kernel's tensors. `add` of channels_last images sees them as (n, h, w, c).
  static void lay_out(const Plan& plan, const Workspace& ws, const KernelRow& row, portable_kernels::KernelStep& step) {
    const DimOrder& order = plan.slots[row.slots[row.slots.size() - step.results]].order;
    step.dims.clear();
    step.ranks.clear();
    for (const std::uint32_t s : row.slots) {
      const Extent x = extent_of(plan, ws, s);
      const std::array<std::int64_t, max_dims> strides = strides_of(plan, ws, s);
      // a number stays one: it does not promote the other operand
      const std::size_t rank = row.elementwise && !x.sizes.empty() ? std::size_t{order.rank} : x.sizes.size();
      std::array<std::int64_t, 2 * max_dims> lists{};  // sizes, then strides
      for (std::size_t d = 0; d < rank; ++d) {
        const std::size_t at = row.elementwise ? std::size_t{order.dim[d]} : d, missing = rank - x.sizes.size();
        lists[d] = at < missing ? 1 : x.sizes[at - missing];
        lists[rank + d] = at < missing ? 1 : strides[at - missing];
      }
      step.dims.insert(step.dims.end(), lists.begin(), lists.begin() + 2 * rank);
      step.ranks.push_back(static_cast<std::uint8_t>(rank));
    }
  }
  struct State {
    std::vector<OperatorPart> parts;  ///< usually one
    std::array<std::byte*, 2> at{};
    std::uint64_t generation = 0;
    pthreadpool_t pool = nullptr;  ///< null if one thread is faster
  };
  /// The multiplications or elementwise functions that are worth waking threads for.
  static constexpr std::int64_t work_for_threads = 100'000;
  [[nodiscard]] pthreadpool_t pool_for(const Plan& plan, const Workspace& ws, const Step& step) const noexcept {
    const std::int64_t in = extent_of(plan, ws, step.in).count, out = extent_of(plan, ws, step.out).count;
    std::int64_t work = 4 * std::max(in, out);
    if (step.weights != no_id) {
      const Weights& weights = plan.weights[step.weights];  // an input element of a transposed convolution meets the
                                                            // whole kernel of its channel
      const std::int64_t each = weights.kernel.numel() / std::max<std::int64_t>(weights.kernel.sizes[0], 1);
      work = std::max(work, (weights.transposed ? in : out) * each);
    }
    return work < work_for_threads ? nullptr : pool_.get();
  }

  ThreadPool pool_;
  std::vector<State> states_;
  std::vector<KernelSlot> kernels_;               ///< per row of Plan::kernels
  portable_kernels::KernelMemory kernel_memory_;  ///< shared by the kernels
};

}  // namespace davit::xnnpack_parts
