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

}  // namespace
