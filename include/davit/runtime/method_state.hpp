// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/memory_ranges.hpp"
#include "davit/core/limits.hpp"
#include "davit/core/scratch.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/runtime/call_frame.hpp"
#include "davit/runtime/check_values.hpp"
#include "davit/runtime/program_plan.hpp"
#include "davit/runtime/size_memory.hpp"

/// What a session keeps for each of its methods, and the functions that run them.
namespace davit::detail {

/// Where the outputs of a method's last run lie, but for those in memory of the caller's, where the sizes and strides
/// of these lie, and the buffers that the method changes: the next run overwrites it.
class LastOutputs {
 public:
  /// True if one of the values may begin there, or has its sizes there. O(values * log(outputs + buffers)).
  [[nodiscard, gnu::always_inline]] bool may_hold(std::span<const EValue> values) const noexcept {
    for (const EValue& value : values)
      if (value.is_tensor() && (!is_apart(value.tensor()) || holds_dims(value.tensor()) || is_state(value.tensor())))
        return true;
    return false;
  }
  /// True for a tensor that begins elsewhere.
  [[nodiscard, gnu::always_inline]] bool is_apart(const TensorView& tensor) const noexcept {
    return reinterpret_cast<std::uintptr_t>(tensor.data) - first_ >= size_;
  }
  /// Where each output that is a tensor lay.
  [[nodiscard]] const void* const* places() const noexcept { return at_.data(); }
  /// Remembers the outputs of a run that was passed `passed` and used `inputs`: the same, or copies of some. O(n log n)
  /// for n inputs and outputs.
  void note(std::span<const EValue> passed, std::span<const EValue> inputs, std::span<const EValue> outputs);
  /// Answers the values with copies of those that lie there, or of their sizes; nothing if there is no memory. Values
  /// of which none does, such as one between two outputs, are answered as they are. The copies hold until a run after
  /// the next one, refused and failed ones not counted: an output may view one and be fed back itself.
  [[nodiscard]] std::optional<std::span<const EValue>> replace(std::span<const EValue> values);

  /// True if an output views memory of the caller's in other sizes or strides.
  [[nodiscard]] bool views_callers() const noexcept { return !dims_.empty(); }

  /// Takes all the memory that note() needs: noting comes after state has been written, and must not fail.
  LastOutputs(std::size_t inputs, std::size_t outputs, std::vector<MemoryRange> state)
      : at_(outputs, nullptr), state_(std::move(state)) {
    own_.reserve(outputs);
    dims_.reserve(2 * outputs);
    callers_.reserve(inputs);
    callers_dims_.reserve(2 * inputs);
  }

 private:
  [[nodiscard]] bool is_state(const TensorView& tensor) const noexcept {
    return !state_.empty() && state_.meet(memory_range(tensor));
  }
  [[nodiscard]] bool holds_dims(const TensorView& tensor) const noexcept {
    return !dims_.empty() && tensor.rank != 0 &&
           (std::ranges::binary_search(dims_, tensor.sizes_data) ||
            std::ranges::binary_search(dims_, tensor.strides_data));
  }
  /// Finds callers_dims_; `passed` and `inputs` as note().
  void note_callers_dims(std::span<const EValue> passed, std::span<const EValue> inputs);
  struct Copy {
    Tensor tensor;
    std::vector<std::int64_t> dims;  ///< sizes and strides of what lies in memory of the caller's
  };

  std::uintptr_t first_ = 0;
  std::uintptr_t size_ = 0;
  std::vector<const void*> at_;
  MemoryRanges own_;  ///< of the outputs that are not the caller's
  MemoryRanges state_;
  MemoryRanges callers_;                   ///< of the inputs that are the caller's
  std::vector<const std::int64_t*> dims_;  ///< sizes and strides of the others, where they are not the caller's; sorted
  std::vector<const std::int64_t*> callers_dims_;  ///< sizes and strides of inputs; sorted
  std::vector<EValue> values_;
  std::vector<Copy> copies_[2];  ///< of the last run that needed some, and what the next one writes
  bool replaced_ = false;        ///< the second were written for a run that has not been noted
};

/// What a step calls: a partition, or nothing if it is control flow, which is not direct.
struct StepCall {
  bool direct = false;  ///< prepared, sizes do not change from call to call, and it can be direct
};
inline StepCall control_flow_call;

/// What a session keeps for one partition. Inputs and outputs lie in the session's slots where those are neighbours,
/// and are gathered from or scattered to them where they are not.
struct DelegateState : StepCall {
  DelegateState(const BackendTable& table, const LoweredDelegate& lowered, TextReport& report, TracerRef* tracer);
  /// Ties the partition to the slots of its call.
  void connect(std::span<EValue> values, std::span<const std::uint32_t> in, std::span<const std::uint32_t> out);

  /// True if nothing is to be gathered, scattered, traced or checked with care.
  [[nodiscard]] bool can_be_direct() const noexcept {
    return input_slots.empty() && output_slots.empty() && call.tracer == nullptr && checks.is_whole_of_tensors() &&
           (always_runs || backend->asks_availability == nullptr);
  }

  /// True if an output may view an input.
  [[nodiscard]] bool may_view() const noexcept {
    return !backend->never_views_inputs || (backend->fills_destinations && !planned);
  }

  bool always_runs = false;  ///< it is of the root graph: its backend is asked before each run whether it is available,
                             ///< and not before each call
  bool ready = false;        ///< prepared
  bool planned = false;      ///< outputs have destinations and scratch is lent from the session's arena
  bool dynamic = false;      ///< sizes may change from call to call
  DelegateCall call;         ///< what execute gets
  Status (*execute)(const DelegateCall&) = nullptr;
  const BackendTable* backend = nullptr;
  const LoweredDelegate* lowered = nullptr;
  std::span<const std::uint32_t> input_slots;   ///< what to gather; empty: nothing
  std::span<const std::uint32_t> output_slots;  ///< where to scatter; empty: nowhere
  PortChecks checks;
  SymbolValues unknown;  ///< the symbols' values where nothing is known of them
  SizeMemory sizes;
  std::vector<EValue> own_inputs;
  std::vector<EValue> own_outputs;
  std::vector<EValue> destinations;  ///< of a planned partition: per output, a tensor or none
  std::shared_ptr<void> workspace;
  Scratch own_scratch;
  std::span<EValue> inputs;  ///< where call.inputs are written
};

/// What a session keeps for one loop.
struct LoopState {
  std::vector<Tensor> carried[2];  ///< written in turn: a body may read what the one before it wrote
  std::vector<Tensor> stacked;
  std::vector<std::int64_t> dims;  ///< sizes and strides of slices
  std::vector<EValue> values;
};

/// What all methods of a session share.
struct RunContext {
  const DebugMap* debug_map = nullptr;
  TextReport report{};
  Limits limits{};
  std::unique_ptr<TracerRef> tracer{};
  UndoLog undo{};
  bool is_running = false;
};

/// What a session keeps for one method.
struct MethodState {
  MethodState(BackendTables backends, const LoweredMethod& lowered, std::span<NamedTensor> state, RunContext& shared);

  const LoweredMethod* method;
  const Schedule* schedule;
  RunContext* context;
  CallFrame frame;
  LastOutputs last;
  std::vector<DelegateState> delegates;  ///< as the method's
  std::vector<StepCall*> calls;          ///< per step: the partition it calls, or &control_flow_call
  std::vector<LoopState> loops;          ///< per step
  std::vector<EValue> slots;
  ProgramPlan plan;
  std::vector<std::uint8_t> views;      ///< per delegate: what the plan took its outputs for
  bool planned = false;                 ///< for the sizes of the last run
  DelegateState* ready_call = nullptr;  ///< `only`, where a call of it that fits is a whole run
  DelegateState* only = nullptr;  ///< the one partition of a method that does nothing but call it with its own inputs
  std::vector<const DelegateState*>
      asked;  ///< of the root graph, the first of each backend that may become unavailable
  Scratch arena;
  std::vector<std::int64_t> dims;  ///< sizes and strides of planned values

  /// True if a call of `only` with inputs that fit is a whole run.
  [[nodiscard]] bool can_be_ready() const noexcept {
    return only != nullptr && only->direct && planned && !frame.keeps_state() && !last.views_callers() &&
           only->backend->asks_availability == nullptr && frame.input_checks().is_whole();
  }

 private:
  void fill_slots();
  [[nodiscard]] bool is_one_call() const noexcept;
};

/// Where a partition is, for messages.
[[nodiscard]] Name place_of(const MethodState& m, const DelegateState& d);

/// Sizes every value and every scratch that can be known before the run, places them, and tells the partitions.
[[nodiscard]] bool plan_run(MethodState& m, Error& error);

/// Lets the new value of a buffer be made in the buffer's own memory, where a partition can and nobody needs the old
/// one after it. O(size of the schedule).
void update_state(MethodState& m);

/// Runs the steps of a graph over the slots; `depth` counts control flow in control flow.
[[nodiscard]] bool run_graph(MethodState& m, GraphId graph, int depth, Error& error);
[[nodiscard]] bool run_control_flow(MethodState& m, const ScheduleStep& step, int depth, Error& error);

}  // namespace davit::detail
