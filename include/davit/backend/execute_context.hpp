// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "davit/backend/stop_condition.hpp"
#include "davit/backend/undo_log.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"

namespace davit {

/// Receives per-operator and memory events of an execute. A compile-time policy: NullTracer generates no instructions.
/// Source: the profiling hooks of torch's `RECORD_BACKEND_EVENT_TO_EDGE_PROFILER`.
template <class T>
concept Tracer = requires(T& tracer, DebugHandle handle, std::string_view name, std::size_t bytes) {
  { T::enabled } -> std::convertible_to<bool>;
  tracer.begin_op(handle, name);
  tracer.end_op(handle, name);
  tracer.memory(handle, bytes);
};

struct NullTracer {
  static constexpr bool enabled = false;
  static constexpr void begin_op(DebugHandle, std::string_view) noexcept {}
  static constexpr void end_op(DebugHandle, std::string_view) noexcept {}
  static constexpr void memory(DebugHandle, std::size_t) noexcept {}
};
static_assert(Tracer<NullTracer>);

/// A reference to any tracer, which a session passes to its backends. The tracer must outlive it. The session also
/// calls the tracer's optional `begin_delegate(tag, backend)`, `end_delegate(tag, backend)` and `delegate_outputs(tag,
/// outputs)`.
class TracerRef {
 public:
  static constexpr bool enabled = true;

  template <class T>
    requires(Tracer<T> && !std::same_as<T, TracerRef>)
  explicit constexpr TracerRef(T& tracer) noexcept : self_(&tracer), calls_(&calls_of<T>) {}

  void begin_op(DebugHandle handle, std::string_view name) { calls_->begin_op(self_, handle, name); }
  void end_op(DebugHandle handle, std::string_view name) { calls_->end_op(self_, handle, name); }
  void memory(DebugHandle handle, std::size_t bytes) { calls_->memory(self_, handle, bytes); }
  void begin_delegate(std::string_view tag, std::string_view backend) { calls_->begin_delegate(self_, tag, backend); }
  void end_delegate(std::string_view tag, std::string_view backend) { calls_->end_delegate(self_, tag, backend); }
  void delegate_outputs(std::string_view tag, std::span<const EValue> outputs) {
    calls_->delegate_outputs(self_, tag, outputs);
  }

 private:
  struct Calls {
    void (*begin_op)(void*, DebugHandle, std::string_view);
    void (*end_op)(void*, DebugHandle, std::string_view);
    void (*memory)(void*, DebugHandle, std::size_t);
    void (*begin_delegate)(void*, std::string_view, std::string_view);
    void (*end_delegate)(void*, std::string_view, std::string_view);
    void (*delegate_outputs)(void*, std::string_view, std::span<const EValue>);
  };
  template <class T>
  static constexpr Calls calls_of{
      [](void* self, DebugHandle handle, std::string_view name) { static_cast<T*>(self)->begin_op(handle, name); },
      [](void* self, DebugHandle handle, std::string_view name) { static_cast<T*>(self)->end_op(handle, name); },
      [](void* self, DebugHandle handle, std::size_t bytes) { static_cast<T*>(self)->memory(handle, bytes); },
      []([[maybe_unused]] void* self, [[maybe_unused]] std::string_view tag,
         [[maybe_unused]] std::string_view backend) {
        if constexpr (requires(T& t) { t.begin_delegate(tag, backend); })
          static_cast<T*>(self)->begin_delegate(tag, backend);
      },
      []([[maybe_unused]] void* self, [[maybe_unused]] std::string_view tag,
         [[maybe_unused]] std::string_view backend) {
        if constexpr (requires(T& t) { t.end_delegate(tag, backend); })
          static_cast<T*>(self)->end_delegate(tag, backend);
      },
      []([[maybe_unused]] void* self, [[maybe_unused]] std::string_view tag,
         [[maybe_unused]] std::span<const EValue> outputs) {
        if constexpr (requires(T& t) { t.delegate_outputs(tag, outputs); })
          static_cast<T*>(self)->delegate_outputs(tag, outputs);
      }};

  void* self_;
  const Calls* calls_;
};

/// Stores the sentence of a backend's fault. Use NoReport on a device: it compiles no sentences in.
struct TextReport {
  static constexpr bool enabled = true;
  Name text;
};
struct NoReport {
  static constexpr bool enabled = false;
};

/// Resources of a delegate call besides its inputs and outputs: tracer, report, the session's workspace and scratch.
template <Tracer T = NullTracer, class Report = NoReport, class Workspace = std::monostate>
class ExecuteContext {
 public:
  constexpr ExecuteContext(T& tracer, Report& report, Workspace& workspace, std::span<std::byte> scratch = {},
                           std::uint64_t max_memory = UINT64_MAX, UndoLog* undo = nullptr,
                           const StopCondition* stop = nullptr) noexcept
      : tracer_(&tracer),
        report_(&report),
        workspace_(&workspace),
        scratch_(scratch),
        max_memory_(max_memory),
        undo_(undo) {
    if constexpr (Report::enabled) stop_ = stop;
  }

  [[nodiscard]] constexpr Workspace& workspace() const noexcept { return *workspace_; }
  /// Scratch memory: at least the bytes that prepare returned, aligned to 64.
  [[nodiscard]] constexpr std::span<std::byte> scratch() const noexcept { return scratch_; }

  /// Limit, in bytes, of further memory of the backend, such as for outputs with data-dependent sizes.
  [[nodiscard]] constexpr std::uint64_t max_memory() const noexcept { return max_memory_; }
  /// The log in which a backend that updates inputs (UpdatesInputs) saves bytes before it overwrites them; null if it
  /// need not.
  [[nodiscard]] constexpr UndoLog* undo() const noexcept { return undo_; }

  /// Returns the reason to end the run now, nullptr if there is none; a backend that asks it between its nodes then
  /// fails with ErrorCode::cancelled. Without a report (on a device) it is nullptr.
  [[nodiscard]] constexpr const char* stop_reason() const noexcept {
    const StopCondition* const condition = stop();
    return condition == nullptr ? nullptr : condition->reason();
  }
  /// The condition that ends the run; null if there is none.
  [[nodiscard]] constexpr const StopCondition* stop() const noexcept {
    if constexpr (Report::enabled)
      return stop_;
    else
      return nullptr;
  }

  /// Makes a fault to return; `parts` (strings and integers) become its sentence if a report is kept.
  template <class... Parts>
  [[nodiscard]] constexpr std::unexpected<Fault> fail(ErrorCode code, DebugHandle handle, const Parts&... parts) const {
    if constexpr (Report::enabled) report_->text = concat(parts...);
    return std::unexpected(Fault(code, handle));
  }

  constexpr void begin_op(DebugHandle handle, std::string_view name) const {
    if constexpr (T::enabled) tracer_->begin_op(handle, name);
  }
  constexpr void end_op(DebugHandle handle, std::string_view name) const {
    if constexpr (T::enabled) tracer_->end_op(handle, name);
  }
  constexpr void memory(DebugHandle handle, std::size_t bytes) const {
    if constexpr (T::enabled) tracer_->memory(handle, bytes);
  }

 private:
  [[no_unique_address]] T* tracer_;
  Report* report_;
  Workspace* workspace_;
  std::span<std::byte> scratch_;
  std::uint64_t max_memory_;
  UndoLog* undo_;
  struct NoStop {};
  [[no_unique_address]] std::conditional_t<Report::enabled, const StopCondition*, NoStop> stop_{};
};

}  // namespace davit
