// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/backends/portable/run_time/kernel_step.hpp"
#include "davit/backends/xnnpack/create_operator.hpp"
#include "davit/backends/xnnpack/run_kernels.hpp"
#include "davit/backends/xnnpack/setup_operator.hpp"
#include "davit/backends/xnnpack/thread_pool.hpp"
#include "davit/core/scratch.hpp"

namespace davit::xnnpack_parts {

/// XNNPACK's operators for the steps of a plan, their weights packed, and what they were last set up for.
///
/// An operator keeps its weights and its pointers in one object: one run at a time may use an engine.
class Engine {
 public:
  /// Errors: unsupported_argument if XNNPACK refuses an operator, out_of_memory.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> make(const Plan& plan, std::span<const DebugHandle> handles,
                                                            ThreadPool pool) {
    auto engine = std::make_unique<Engine>();
    engine->pool_ = std::move(pool);
    engine->states_.resize(plan.steps.size());
    for (const portable_kernels::KernelStep& kernel : plan.kernels) engine->kernels_.emplace_back(kernel);
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
    if (extent_of(plan, ws, step.out).count == 0) return true;
    if (step.op == Op::kernel) return run_kernel(plan, ws, step);
    if (is_own(step)) return run_own(plan, ws, step, pool_.get(), scratch_);
    State& state = states_[index];
    const std::array<std::byte*, 3> at{address(plan, ws, step.in[0]), address(plan, ws, step.in[1]),
                                       address(plan, ws, step.out)};
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
  /// One of portable's kernels.
  [[nodiscard]] bool run_kernel(const Plan& plan, const Workspace& ws, const Step& step) {
    const portable_kernels::KernelStep& kernel = plan.kernels[step.weights];
    return kernels_[step.weights].run(kernel, kernel_memory_, [&](std::size_t i) -> void* {
      return address(plan, ws, i < kernel.operands() ? step.in[i] : step.out);
    });
  }
  struct State {
    std::vector<OperatorPart> parts;  ///< mostly one
    std::array<std::byte*, 3> at{};
    std::uint64_t generation = 0;
    pthreadpool_t pool = nullptr;  ///< null where one thread is faster
  };
  /// Multiplications and other functions of elements that are worth waking threads for.
  static constexpr std::int64_t work_for_threads = 100'000;
  [[nodiscard]] pthreadpool_t pool_for(const Plan& plan, const Workspace& ws, const Step& step) const noexcept {
    const std::int64_t in = extent_of(plan, ws, step.in[0]).count, out = extent_of(plan, ws, step.out).count;
    std::int64_t work = 4 * std::max(in, out);
    if (step.weights != no_id) {
      const Weights& weights =
          plan.weights[step.weights];  // an element of a transposed convolution's input meets all of its channel's
      const std::int64_t each = weights.kernel.numel() / std::max<std::int64_t>(weights.kernel.sizes[0], 1);
      work = std::max(work, (weights.transposed ? in : out) * each);
    }
    return work < work_for_threads ? nullptr : pool_.get();
  }

  ThreadPool pool_;
  std::vector<State> states_;
  std::vector<portable_kernels::KernelState> kernels_;  ///< per row of Plan::kernels
  portable_kernels::KernelMemory kernel_memory_;        ///< which they share
  Scratch scratch_;                                     ///< of the steps that davit computes itself
};

}  // namespace davit::xnnpack_parts
