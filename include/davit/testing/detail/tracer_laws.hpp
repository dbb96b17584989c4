// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/backend/execute_context.hpp"
#include "davit/testing/detail/law_case.hpp"

namespace davit::testing::detail {

/// Counts events and records their handles.
struct LawTracer {
  static constexpr bool enabled = true;
  std::vector<DebugHandle> open;
  std::vector<DebugHandle> handles;
  bool paired = true;
  void begin_op(DebugHandle handle, std::string_view) {
    open.push_back(handle);
    handles.push_back(handle);
  }
  void end_op(DebugHandle handle, std::string_view) {
    paired = paired && !open.empty() && open.back() == handle;
    if (!open.empty()) open.pop_back();
  }
  void memory(DebugHandle handle, std::size_t) { handles.push_back(handle); }
};
static_assert(Tracer<LawTracer>);

/// tracer, handles: a tracer changes no result, and receives consistent events.
template <Backend B>
void check_tracer(LawCase<B>& c, const LoweredProgram& program) {
  if (c.mutates_inputs()) return;
  LawTracer tracer;
  Result<Session> session = Session::make(program, {.tracer = TracerRef(tracer)});
  if (!session) return c.broken("sessions", to_name(session.error()));
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    Result<Outputs> outputs = session->run(0, c.samples[i]);
    if (!outputs || Snapshot(outputs->all()) != c.expected[i]) c.broken("tracer", "sample ", i, " gave another result");
  }
  if (!tracer.paired || !tracer.open.empty()) c.broken("handles", "begin_op and end_op do not come in pairs");
  DebugInfo info;
  for (const DebugHandle handle : tracer.handles)
    if (handle != no_debug_handle && !program.debug_map().find(handle, info))
      return c.broken("handles", "an event has the unknown debug handle ", handle);
}

}  // namespace davit::testing::detail
