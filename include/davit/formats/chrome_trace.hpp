// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/backend/execute_context.hpp"
#include "davit/core/config.hpp"
#include "davit/core/error.hpp"

namespace davit::formats {

/// Returns the innermost frame of a traceback as "file:line"; empty if there is none.
[[nodiscard]] std::string source_location(std::string_view stack_trace);

/// A tracer that records a session's events and writes them in Chrome's trace format: delegate calls with their
/// operators.
class ChromeTracer {
 public:
  static constexpr bool enabled = true;
  struct Event {
    DebugHandle handle;
    std::string name;     ///< operator, or tag of the partition
    std::string backend;  ///< backend of a delegate call; empty for an operator
    double begin;         ///< microseconds
    double duration;
    std::uint64_t bytes;
  };

  explicit ChromeTracer(bool active = true) : active_(active) {}

  void begin_op(DebugHandle, std::string_view) {
    if (active_) open_.push_back({Clock::now(), false});
  }
  void end_op(DebugHandle handle, std::string_view name) {
    if (active_ && !open_.empty() && !open_.back().delegate) close(handle, name, {});
  }
  void begin_delegate(std::string_view, std::string_view) {
    if (active_) open_.push_back({Clock::now(), true});
  }
  /// Ends a delegate call. Operators that have not ended have failed, and are not recorded.
  void end_delegate(std::string_view tag, std::string_view backend);
  /// Adds bytes to the operator that ended last.
  void memory(DebugHandle, std::size_t bytes) {
    if (active_ && !events_.empty()) events_.back().bytes += bytes;
  }
  /// Returns the ended events in order of their ends: operators before their delegate call.
  [[nodiscard]] const std::vector<Event>& events() const noexcept { return events_; }
  /// Removes all events.
  void clear();

  /// Writes the events to a file. Operators have debug handle, output bytes, node, module hierarchy, and "file:line" of
  /// the model's innermost frame; delegate calls have their backend. Errors: io_error.
  [[nodiscard]] Result<void> write(const std::string& path, const DebugMap& map) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Open {
    Clock::time_point begin;
    bool delegate;
  };
  /// Ends the innermost open event.
  void close(DebugHandle handle, std::string_view name, std::string_view backend);
  bool active_;
  Clock::time_point start_ = Clock::now();
  std::vector<Open> open_;  ///< events that have not ended, the innermost last
  std::vector<Event> events_;
};
static_assert(Tracer<ChromeTracer>);

}  // namespace davit::formats
