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

/// State of a session per method.
namespace davit::detail {

/// Memory that the next run overwrites: outputs of a method's last run (data, sizes and strides, unless they are the
/// caller's), and the buffers that the method changes.
class OverwrittenMemory {
 public:
  /// True if a value may begin in this memory or has its sizes there. O(values * log(outputs + buffers)).
  [[nodiscard, gnu::always_inline]] bool may_hold(std::span<const EValue> values) const noexcept {
    for (const EValue& value : values)
      if (value.is_tensor() && (!is_apart(value.tensor()) || holds_dims(value.tensor()) || is_state(value.tensor())))
        return true;
    return false;
  }
  /// True if the tensor begins elsewhere.
  [[nodiscard, gnu::always_inline]] bool is_apart(const TensorView& tensor) const noexcept {
    return reinterpret_cast<std::uintptr_t>(tensor.data) - first_ >= size_;
  }
  /// Returns the data pointers of the tensor outputs.
  [[nodiscard]] const void* const* places() const noexcept { return at_.data(); }
  /// Remembers the outputs of a run. The caller passed `passed`; the run used `inputs`, in which some may be copies.
  /// O(n log n) for n inputs and outputs.
  void note(std::span<const EValue> passed, std::span<const EValue> inputs, std::span<const EValue> outputs);
  /// Returns `values` with copies of all tensors (or only their sizes) that lie in this memory; nullopt if memory runs
  /// out.
  ///
  /// Other values, for example a tensor between two outputs, stay as they are. The copies survive the next successful
  /// run, because an output of it may view a copy and be passed to the run after it.
  [[nodiscard]] std::optional<std::span<const EValue>> replace(std::span<const EValue> values);

  /// Sets the memory of the buffers that the method changes.
  void set_state(std::vector<MemoryRange> state) { state_ = MemoryRanges(std::move(state)); }

  /// True if an output views the caller's memory with other sizes or strides.
  [[nodiscard]] bool views_callers() const noexcept { return !dims_.empty(); }

  /// Allocates for all later note() calls: they follow the write-back of state and must not fail.
  OverwrittenMemory(std::size_t inputs, std::size_t outputs, std::vector<MemoryRange> state)
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
  /// Fills callers_dims_ from the arguments of note().
  void note_callers_dims(std::span<const EValue> passed, std::span<const EValue> inputs);
  struct Copy {
    Tensor tensor;
    std::vector<std::int64_t> dims;  ///< copied sizes and strides of a tensor whose elements are the caller's
  };

  std::uintptr_t first_ = 0;
  std::uintptr_t size_ = 0;
  std::vector<const void*> at_;
  MemoryRanges own_;  ///< memory of outputs that is not the caller's
  MemoryRanges state_;
  MemoryRanges callers_;                           ///< memory of inputs that is the caller's
  std::vector<const std::int64_t*> dims_;          ///< own sizes and strides of outputs in the caller's memory; sorted
  std::vector<const std::int64_t*> callers_dims_;  ///< the caller's sizes and strides of inputs; sorted
  std::vector<EValue> values_;
  std::vector<Copy> copies_[2];  ///< [0]: copies of the last run that needed some; [1]: copies for the next
  bool replaced_ = false;        ///< copies_[1] is filled, and its run is not yet noted
};

/// Target of a step: a partition (DelegateState), or control_flow_call, which is never direct.
struct StepCall {
  bool direct = false;  ///< can_be_direct(), prepared, and of constant sizes
};
inline StepCall control_flow_call;

/// State of a session per partition. If the slots of its inputs (outputs) are adjacent, the partition uses them in
/// place; if not, its values are gathered (scattered).
struct DelegateState : StepCall {
  DelegateState(const BackendTable& table, const LoweredDelegate& lowered, TextReport& report, TracerRef* tracer);
  /// Connects the partition to the slots of its call.
  void connect(std::span<EValue> values, std::span<const std::uint32_t> in, std::span<const std::uint32_t> out);

  /// True if a call needs no gathering, scattering, tracing or thorough check.
  [[nodiscard]] bool can_be_direct() const noexcept {
    return input_slots.empty() && output_slots.empty() && call.tracer == nullptr && checks.is_complete_of_tensors() &&
           (always_runs || backend->is_available_fn == nullptr) && call.stop == nullptr;
  }

  /// True if an output may view an input.
  [[nodiscard]] bool may_view() const noexcept {
    return !backend->never_views_inputs || (backend->fills_destinations && !planned);
  }

  bool always_runs = false;  ///< in the root graph: its backend's availability is checked once per run, not per call
  bool ready = false;        ///< prepared
  bool planned = false;      ///< outputs have destinations, and the scratch is part of the session's arena
  bool dynamic = false;      ///< sizes may change between calls
  DelegateCall call;         ///< arguments of execute
  Status (*execute)(const DelegateCall&) = nullptr;
  const BackendTable* backend = nullptr;
  const LoweredDelegate* lowered = nullptr;
  std::span<const std::uint32_t> input_slots;   ///< slots to gather from; empty if adjacent
  std::span<const std::uint32_t> output_slots;  ///< slots to scatter to; empty if adjacent
  PortChecks checks;
  SymbolValues unknown;  ///< symbol values of which none is known
  SizeMemory sizes;
  std::vector<EValue> own_inputs;
  std::vector<EValue> own_outputs;
  std::vector<EValue> destinations;  ///< per output of a planned partition: a tensor, or none
  std::shared_ptr<void> workspace;
  Scratch own_scratch;
  std::span<EValue> inputs;  ///< storage of call.inputs
};

/// State of a session per loop.
struct LoopState {
  std::vector<Tensor> carried[2];  ///< used alternately: a body may read the values of the iteration before
  std::vector<Tensor> stacked;
  std::vector<std::int64_t> dims;  ///< sizes and strides of slices
  std::vector<EValue> values;
};

/// State that all methods of a session share.
struct RunContext {
  const DebugMap* debug_map = nullptr;
  TextReport report{};
  Limits limits{};
  std::unique_ptr<TracerRef> tracer{};
  UndoLog undo{};
  StopCondition stop{};
  std::uint32_t state_version = 0;  ///< rises when a buffer changes its address
  bool is_running = false;
};

/// State of a session per method.
struct MethodState {
  MethodState(BackendTables backends, const LoweredMethod& lowered, std::span<NamedTensor> state, RunContext& shared);

  const LoweredMethod* method;
  const Schedule* schedule;
  RunContext* context;
  CallFrame frame;
  OverwrittenMemory overwritten;
  std::vector<DelegateState> delegates;  ///< in the order of the method's delegates
  std::vector<StepCall*> calls;          ///< per step: the partition, or &control_flow_call
  std::vector<LoopState> loops;          ///< per step
  std::vector<EValue> slots;
  ProgramPlan plan;
  std::vector<std::uint8_t> views;          ///< per delegate: may_view() as of the plan
  bool planned = false;                     ///< for the sizes of the last run
  DelegateState* ready_call = nullptr;      ///< `only`, if a call of it is a complete run
  DelegateState* only = nullptr;            ///< the only partition, if the method just passes its inputs to it
  std::vector<const DelegateState*> asked;  ///< root-graph partitions, one per backend that may become unavailable
  Scratch arena;
  std::vector<std::int64_t> dims;   ///< sizes and strides of planned values
  std::uint32_t state_version = 0;  ///< of the buffers' addresses that `overwritten` has
  bool moved = false;               ///< the plan has old addresses of buffers

  /// Takes the addresses of the buffers if some moved since its last run.
  void follow_state(std::span<const NamedTensor> state);
  /// Tells all methods of the session if this one has moved a buffer.
  void note_moved() noexcept {
    if (frame.take_moved()) ++context->state_version;
  }
  /// Makes calls ask the session's stop condition, or no longer.
  void set_stop() noexcept;

  /// True if a call of `only` with fitting inputs is a complete run.
  [[nodiscard]] bool can_be_ready() const noexcept {
    return only != nullptr && only->direct && planned && !frame.keeps_state() && !overwritten.views_callers() &&
           only->backend->is_available_fn == nullptr && frame.input_checks().is_complete();
  }

 private:
  void fill_slots();
  [[nodiscard]] bool is_one_call() const noexcept;
};

/// Describes the place of a partition in an error message.
[[nodiscard]] Name place_of(const MethodState& m, const DelegateState& d);

}  // namespace davit::detail
