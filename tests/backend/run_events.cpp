// SPDX-License-Identifier: MIT
#include "davit/backend/run_events.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace {

using namespace davit;

struct Log {
  static constexpr bool enabled = true;
  std::string text;
  void begin_op(DebugHandle handle, std::string_view name) { text += "<" + std::to_string(handle) + std::string(name); }
  void end_op(DebugHandle, std::string_view) { text += ">"; }
  void memory(DebugHandle, std::size_t bytes) { text += std::to_string(bytes); }
};

/// Records its events, but requests none.
struct Deaf : Log {
  static constexpr bool enabled = false;
};

template <class T>
void work(T& tracer) {
  NoReport report;
  std::monostate workspace;
  const ExecuteContext<T, NoReport, std::monostate> context(tracer, report, workspace);
  const RunEvents events(context);
  CHECK(events.are_traced() == T::enabled);
  events.begin_op(7, "add");
  events.memory(7, 64);
  events.end_op(7, "add");
}

TEST_CASE("events reach the tracer of the context") {
  Log log;
  work(log);
  CHECK(log.text == "<7add64>");
}

TEST_CASE("without a tracer nothing is called") {
  Deaf log;
  work(log);
  CHECK(log.text.empty());
}

TEST_CASE("the reason to end a run reaches the backend if the context keeps a report") {
  struct Source {
    bool stopped = false;
    [[nodiscard]] bool stop_requested() const { return stopped; }
  } source;
  const StopCondition condition(source);
  NullTracer tracer;
  TextReport report;
  NoReport silent;
  std::monostate workspace;
  const ExecuteContext<NullTracer, TextReport> context(tracer, report, workspace, {}, 0, nullptr, &condition);
  const ExecuteContext<NullTracer, NoReport> device(tracer, silent, workspace, {}, 0, nullptr, &condition);
  CHECK(RunEvents(context).stop_reason() == nullptr);
  source.stopped = true;
  CHECK(RunEvents(context).stop_reason() != nullptr);
  CHECK(context.stop_reason() == RunEvents(context).stop_reason());
  CHECK(device.stop_reason() == nullptr);
  static_assert(sizeof(device) < sizeof(context));
}

}  // namespace
