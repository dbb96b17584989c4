// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/runtime/method_state.hpp"

namespace davit::detail {

/// Sets the destinations of a partition's outputs. Precondition: there are outputs.
[[gnu::always_inline]] inline void place_outputs(DelegateState& d) {
  EValue* output = d.call.outputs.data();
  std::size_t left = d.call.outputs.size();
  if (d.planned) {
    const EValue* to = d.destinations.data();
    do *output++ = *to++;
    while (--left != 0);
  } else {
    do output++->clear();
    while (--left != 0);
  }
}

/// Runs a direct partition on its call's arguments.
[[nodiscard, gnu::always_inline]] inline Status execute(DelegateState& d) {
  place_outputs(d);
  return d.execute(d.call);
}

/// Makes the Error of a partition's fault: its source place, and the text of its backend.
void fault(const MethodState& m, const DelegateState& d, Fault status, Error& error);

/// Reports an Error if a partition's backend has become unavailable.
[[nodiscard]] bool is_there(const MethodState& m, const DelegateState& d, Error& error);

/// Reports an Error of code cancelled at `place` if the session's stop condition is met.
template <class Place>
[[nodiscard]] bool may_go_on(const MethodState& m, Place&& place, Error& error) {
  const char* const why = m.context->stop.is_set() ? m.context->stop.reason() : nullptr;
  if (why == nullptr) return true;
  error = Error{
      .code = ErrorCode::cancelled, .stage = Stage::execute, .where = place(), .what = Name(std::string_view(why))};
  return false;
}

/// Runs the steps of a graph over the slots. `depth` is the nesting depth of control flow.
[[nodiscard]] bool run_graph(MethodState& m, GraphId graph, int depth, Error& error);

}  // namespace davit::detail
