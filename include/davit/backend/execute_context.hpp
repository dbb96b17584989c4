// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <variant>

#include "davit/core/error.hpp"

namespace davit {

/// Receives per-operator and memory events of an execute. A compile-time policy: with NullTracer no instruction is
/// emitted for it.
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

/// Keeps the sentence a backend says about a fault. On a device use NoReport: the sentences are not even compiled in.
struct TextReport {
  static constexpr bool enabled = true;
  Name text;
};
struct NoReport {
  static constexpr bool enabled = false;
};

/// What a delegate call may use besides its inputs and outputs: tracer, report, the session's workspace and scratch.
template <Tracer T = NullTracer, class Report = NoReport, class Workspace = std::monostate>
class ExecuteContext {
 public:
  constexpr ExecuteContext(T& tracer, Report& report, Workspace& workspace, std::span<std::byte> scratch = {}) noexcept
      : tracer_(&tracer), report_(&report), workspace_(&workspace), scratch_(scratch) {}

  [[nodiscard]] constexpr Workspace& workspace() const noexcept { return *workspace_; }
  /// As many bytes as the backend's prepare asked for, aligned to 64.
  [[nodiscard]] constexpr std::span<std::byte> scratch() const noexcept { return scratch_; }

  /// A fault to return, with a sentence made of `parts` (strings and integers) where a report is kept.
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
};

}  // namespace davit
