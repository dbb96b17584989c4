// SPDX-License-Identifier: MIT
#include "davit/backend/execute_context.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

using namespace davit;

namespace {

struct CountingTracer {
  static constexpr bool enabled = true;
  int began = 0;
  int ended = 0;
  std::size_t bytes = 0;
  DebugHandle last = no_debug_handle;
  constexpr void begin_op(DebugHandle handle, std::string_view) { ++began, last = handle; }
  constexpr void end_op(DebugHandle, std::string_view) { ++ended; }
  constexpr void memory(DebugHandle, std::size_t n) { bytes += n; }
};
static_assert(Tracer<CountingTracer> && Tracer<NullTracer>);
static_assert(!Tracer<int> && !Tracer<NoReport>);

constexpr bool check_events() {
  CountingTracer tracer;
  TextReport report;
  std::monostate workspace;
  const ExecuteContext<CountingTracer, TextReport> context(tracer, report, workspace);
  context.begin_op(3, "aten.add.Tensor");
  context.memory(3, 4);
  context.end_op(3, "aten.add.Tensor");
  return tracer.began == 1 && tracer.ended == 1 && tracer.bytes == 4 && tracer.last == 3 && context.scratch().empty();
}
static_assert(check_events());

constexpr bool check_fail() {
  NullTracer tracer;
  TextReport report;
  std::monostate workspace;
  const ExecuteContext<NullTracer, TextReport> context(tracer, report, workspace);
  const Status status = context.fail(ErrorCode::out_of_range, 5, "index ", -2, " of ", std::string_view("x"));
  NoReport silent;
  const ExecuteContext<NullTracer> device(tracer, silent, workspace);
  const Status quiet = device.fail(ErrorCode::out_of_range, 5, "index ", -2);
  return report.text == "index -2 of x" && status.error() == Fault(ErrorCode::out_of_range, 5) && quiet == status;
}
static_assert(check_fail());

}  // namespace

TEST_CASE("J01: a tracer receives begin, memory and end with the debug handle") { CHECK(check_events()); }

TEST_CASE("a fault carries code and handle; its sentence is kept only where there is a report") { CHECK(check_fail()); }
