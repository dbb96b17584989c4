// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "davit/backend/execute_context.hpp"

namespace davit {

namespace detail {

template <class Context>
inline constexpr bool is_traced = true;
template <class T, class Report, class Workspace>
inline constexpr bool is_traced<ExecuteContext<T, Report, Workspace>> = T::enabled;

struct EventCalls {
  void (*begin_op)(const void*, DebugHandle, std::string_view);
  void (*end_op)(const void*, DebugHandle, std::string_view);
  void (*memory)(const void*, DebugHandle, std::size_t);
};
template <class Context>
inline constexpr EventCalls event_calls{
    [](const void* to, DebugHandle at, std::string_view name) { static_cast<const Context*>(to)->begin_op(at, name); },
    [](const void* to, DebugHandle at, std::string_view name) { static_cast<const Context*>(to)->end_op(at, name); },
    [](const void* to, DebugHandle at, std::size_t bytes) { static_cast<const Context*>(to)->memory(at, bytes); }};

}  // namespace detail

/// Passes the events of one run to a context of unknown type (the context of the compiled part of a backend), and the
/// reason to end the run back. Without a tracer each event is one test of a pointer.
class RunEvents {
 public:
  /// Takes a context, which must outlive this object.
  template <class Context>
  explicit constexpr RunEvents(const Context& context) noexcept {
    if constexpr (detail::is_traced<Context>) {
      context_ = &context;
      calls_ = &detail::event_calls<Context>;
    }
    if constexpr (requires { context.stop(); }) stop_ = context.stop();
  }
  [[nodiscard]] constexpr bool are_traced() const noexcept { return context_ != nullptr; }

  /// Returns the reason to end the run now, or nullptr. Without a stop condition it is one test of a pointer.
  [[nodiscard]] const char* stop_reason() const noexcept { return stop_ == nullptr ? nullptr : stop_->reason(); }
  [[nodiscard]] constexpr const StopCondition* stop() const noexcept { return stop_; }

  void begin_op(DebugHandle handle, std::string_view name) const {
    if (are_traced()) calls_->begin_op(context_, handle, name);
  }
  void end_op(DebugHandle handle, std::string_view name) const {
    if (are_traced()) calls_->end_op(context_, handle, name);
  }
  void memory(DebugHandle handle, std::size_t bytes) const {
    if (are_traced()) calls_->memory(context_, handle, bytes);
  }

 private:
  const void* context_ = nullptr;
  const detail::EventCalls* calls_ = nullptr;
  const StopCondition* stop_ = nullptr;
};

}  // namespace davit
