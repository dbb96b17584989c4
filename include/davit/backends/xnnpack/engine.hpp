// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/backends/portable/run_time/kernel_step.hpp"
#include "davit/backends/xnnpack/create_operator.hpp"
#include "davit/backends/xnnpack/library.hpp"
#include "davit/backends/xnnpack/thread_pool.hpp"
#include "davit/backends/xnnpack/workspace.hpp"
#include "davit/core/walk.hpp"
#include "davit/kernels/move.hpp"

namespace davit::xnnpack_parts {

/// Sets the operands of an operator, for the sizes of this run; `resized`: the sizes have changed.
[[nodiscard]] inline xnn_status setup_operator(const Plan& plan, const Workspace& ws, const Step& step,
                                               OperatorPart& part, bool resized, const std::array<std::byte*, 2>& at,
                                               pthreadpool_t pool) {
  const Extent x = extent_of(plan, ws, step.in);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  // image sizes: [batch, channels, (height,) width], or [batch, channels] as images of one pixel
  const std::size_t batch = size(x.sizes.empty() ? 1 : x.sizes[0]);
  const std::size_t height = x.rank == 4 ? size(x.sizes[2]) : 1;
  const std::size_t width = x.rank >= 3 ? size(x.sizes[x.rank - 1]) : 1;
  const library::Pixels pixels = detail::pixels_of(plan, step);
  const auto set_up = [&]<class Functions, class T>(Functions, const T*, auto... sizes) {
    return library::set_up<Functions>(part.op.get(), resized, pixels, part.work, pool,
                                      reinterpret_cast<const T*>(at[0]), reinterpret_cast<T*>(at[1] + part.offset),
                                      sizes...);
  };
  constexpr const float* floats = nullptr;
  constexpr const std::int8_t* bytes = nullptr;
  switch (step.op) {
    case Op::convolution:
      // elementwise: one long row instead of many images
      if (x.rank > 4) return set_up(library::Convolution{}, floats, std::size_t{1}, std::size_t{1}, size(x.rows()));
      return set_up(library::Convolution{}, floats, batch, height, width);
    case Op::transposed_convolution:
      return set_up(library::TransposedConvolution{}, floats, batch, height, width, step.window.output_padding[0],
                    step.window.output_padding[1]);
    case Op::quantized_convolution: return set_up(library::QuantizedConvolution{}, bytes, batch, height, width);
    case Op::fully_connected: return set_up(library::FullyConnected{}, floats, size(x.rows()));
    case Op::max_pool: return set_up(library::MaxPool{}, floats, batch, height, width);
    case Op::max_pool_s8: return set_up(library::MaxPoolOfBytes{}, bytes, batch, height, width);
    case Op::average_pool: return set_up(library::AveragePool{}, floats, batch, height, width);
    default: return xnn_status_invalid_state;
  }
}

/// Copies elements of that many bytes, in the target's order; strides are in elements.
inline void move_along(const std::byte* from, const std::array<std::int64_t, max_dims>& from_strides, std::byte* to,
                       const std::array<std::int64_t, max_dims>& to_strides, std::size_t element,
                       const Extent& sizes) noexcept {
  Walk walk(std::span(sizes.sizes).first(sizes.rank));
  walk.add(std::span(from_strides).first(sizes.rank), element)
      .add(std::span(to_strides).first(sizes.rank), element)
      .sort_by(1);
  walk.collapse();
  kernels::move_in_parallel(element, walk, from, to);
}
inline void run_copy(const Plan& plan, const Workspace& ws, const Step& step) {
  const Slot& from = plan.slots[step.in];
  const Extent x = extent_of(plan, ws, step.in);
  const Extent out = extent_of(plan, ws, step.out);
  std::array<std::int64_t, max_dims> from_strides = strides_of(plan, ws, step.in);
  if (const Buffer& b = plan.buffers[from.buffer]; b.place == Place::input && ws.input_strides.size() > b.number)
    for (std::size_t d = 0; d < x.rank; ++d) from_strides[d] = ws.input_strides[b.number][d];
  std::array<std::int64_t, max_dims> to_strides = strides_of(plan, ws, step.out);
  const Extent& walked = step.into ? x : out;
  std::array<std::int64_t, max_dims> walked_strides{};
  std::int64_t from_at = 0;
  std::int64_t to_at = 0;
  const std::size_t shift = out.rank - x.rank;  // missing leading dimensions are broadcast
  for (std::size_t d = 0; d < walked.rank; ++d) {
    if (step.into) {
      walked_strides[d] = from_strides[d];
      continue;
    }
    if (d < shift) continue;
    const bool axis = d - shift == step.axis;
    walked_strides[d] = x.sizes[d - shift] == 1 ? 0 : from_strides[d - shift] * (axis ? step.step : 1);
    if (axis) from_at += from_strides[d - shift] * step.start;
  }
  if (step.into) to_at = to_strides[step.axis] * step.start;
  const std::size_t element = size_of(from.dtype);
  move_along(address(plan, ws, step.in) + from_at * static_cast<std::int64_t>(element), walked_strides,
             address(plan, ws, step.out) + to_at * static_cast<std::int64_t>(element), to_strides, element, walked);
}

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

/// The engines of one compiled method: a run takes one and gives it back.
class EnginePool {
 public:
  explicit EnginePool(std::uint32_t most) : most_(most) {
    all_.reserve(most);
    free_.reserve(most);
  }

  /// Holds an engine for a run.
  class Turn {
   public:
    Turn(EnginePool& pool, Engine* taken) noexcept : engine(taken), pool_(pool) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { pool_.give_back(engine); }
    Engine* engine;

   private:
    EnginePool& pool_;
  };

  void put(std::unique_ptr<Engine> engine) {
    const std::lock_guard lock(mutex_);
    free_.push_back(engine.get());
    all_.push_back(std::move(engine));
  }

  /// Takes the engine that came back last. If all are in use it makes one more, up to the limit, and waits beyond that.
  template <class Make>
  [[nodiscard]] Turn take(Make&& make) {
    std::unique_lock lock(mutex_);
    if (free_.empty() && all_.size() + pending_ < most_) {
      ++pending_;
      lock.unlock();
      std::unique_ptr<Engine> engine = make();
      lock.lock();
      --pending_;
      if (engine != nullptr) {
        Engine* made = engine.get();
        all_.push_back(std::move(engine));
        return {*this, made};
      }
      most_ = static_cast<std::uint32_t>(all_.size());  // no memory for another engine
    }
    came_back_.wait(lock, [&] { return !free_.empty(); });
    Engine* engine = free_.back();
    free_.pop_back();
    return {*this, engine};
  }

 private:
  void give_back(Engine* engine) noexcept {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(engine);
    }
    came_back_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable came_back_;
  std::vector<std::unique_ptr<Engine>> all_;
  std::vector<Engine*> free_;
  std::uint32_t pending_ = 0;
  std::uint32_t most_;
};

}  // namespace davit::xnnpack_parts
