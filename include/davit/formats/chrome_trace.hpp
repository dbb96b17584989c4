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

/// The place of a traceback's innermost frame as "file:line", or nothing.
[[nodiscard]] std::string source_location(std::string_view stack_trace);

/// A tracer that keeps the events of a session and writes them in Chrome's trace format: delegate calls, and in them
/// the operators.
class ChromeTracer {
 public:
  static constexpr bool enabled = true;
  struct Event {
    DebugHandle handle;
    std::string name;     ///< the operator, or the partition's tag
    std::string backend;  ///< of a delegate call; empty: an operator
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
  /// Operators of the call that have not ended failed, and leave no event.
  void end_delegate(std::string_view tag, std::string_view backend);
  /// Bytes of an output of the operator that ended last.
  void memory(DebugHandle, std::size_t bytes) {
    if (active_ && !events_.empty()) events_.back().bytes += bytes;
  }
  /// What has ended, in that order: a delegate call after its operators.
  [[nodiscard]] const std::vector<Event>& events() const noexcept { return events_; }
  /// Forgets the events so far.
  void clear();

  /// Writes the events: operators with debug handle, output bytes, node, module hierarchy and "file:line" of the
  /// model's innermost frame, delegate calls with their backend. Errors: io_error.
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
  std::vector<Open> open_;  ///< what has not ended, innermost last
  std::vector<Event> events_;
};
static_assert(Tracer<ChromeTracer>);

}  // namespace davit::formats
