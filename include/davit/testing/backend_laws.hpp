// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/to_backend.hpp"
#include "davit/lowering/value_sources.hpp"
#include "davit/program/graph_equal.hpp"
#include "davit/testing/detail/execute_laws.hpp"
#include "davit/testing/detail/law_case.hpp"
#include "davit/testing/detail/session_laws.hpp"

// The laws of a backend. A type with the functions of the contract is a backend only if it also keeps these laws:
//
//  available    is_available() returns the same as long as the machine does not change.
//  lowers       the backend takes the given program; preprocess takes every node that `refuses` accepts.
//  costs        offload_cost is a finite number of nanoseconds, not negative, and the same for the same region.
//  pure         preprocess does not change the program, and makes the same bytes from the same method and spec.
//  compile      compile is a function of processed and spec: two handles give the same results.
//  functional   execute is a function of handle and inputs: the same inputs give the same outputs, now and later.
//  inputs       execute does not change its inputs (mutations are outputs; the session writes them back).
//  strides      inputs of other strides give the same results, up to rounding.
//  outputs      outputs have the program's declared number, kinds, dtypes and sizes.
//  destination  an output with a destination is written there or replaced, with the same result. Nothing is written
//               behind a destination that is smaller than the output (a damaged file may declare one).
//  checked      inputs of wrong number, kind, dtype or rank are an Error before execute, and do no harm.
//  sessions     sessions of one program do not affect each other.
//  saved        load(save(processed)) gives the same results and the same bytes, without the debug map.
//  damaged      truncated bytes give a handle, or an Error with a code and a sentence; never a crash.
//  handles      the debug map knows every debug handle in an event; begin and end come in pairs.
//  tracer       a tracer changes no result.

namespace davit::testing {

namespace detail {

/// available: if it is false, the other laws cannot be checked.
template <Backend B>
[[nodiscard]] bool check_available(LawCase<B>& c) {
  if (B::is_available() != B::is_available()) c.broken("available", "two calls of is_available() differ");
  if (B::is_available()) return true;
  c.broken("available", "the backend is not available, so that nothing else can be checked");
  return false;
}

/// lowers: preprocess takes every node that refuses() accepts.
template <Backend B>
void check_selection(LawCase<B>& c, bool lowers) {
  if constexpr (SelectsNodes<B>) {
    const char* reason = nullptr;
    for (NodeId id = 0; id < c.program.view().nodes.size(); ++id)
      if (reason == nullptr) reason = B::refuses(c.program.view(), id);
    if (lowers && reason != nullptr) c.broken("lowers", "preprocess took a node that refuses() refuses: ", reason);
    if (!lowers && reason == nullptr) c.broken("lowers", "refuses() takes every node, but preprocess failed");
  }
}

/// costs: offload_cost of the whole program is a number of nanoseconds, and the same in a second call.
template <Backend B>
void check_costs(LawCase<B>& c) {
  if constexpr (EstimatesOffloadCost<B>) {
    GraphModuleView graph = c.program.view();
    const std::vector<std::uint8_t> used = used_values(graph), constant = constant_values(c.program);
    graph.used = used.data();
    graph.constant = constant.data();
    std::vector<NodeId> nodes(graph.nodes.size());
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
    const double ns = B::offload_cost(graph, nodes);
    if (!(ns >= 0) || !std::isfinite(ns)) c.broken("costs", "offload_cost() is not a number of nanoseconds");
    if (ns != B::offload_cost(graph, nodes)) c.broken("costs", "two calls of offload_cost() differ");
  }
}

/// pure: preprocess does not change the program.
template <Backend B>
void check_purity(LawCase<B>& c) {
  const GraphModule before = c.program.graph_module;
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", c.program.view());
  (void)preprocessor_of<B>::preprocess(Method{"forward", &c.program}, c.spec, recorder);
  if (!graph_equal(before.view(), c.program.view(), {.metadata = true}))
    c.broken("pure", "preprocess changed the program");
}

/// Checks all laws of B; `c` collects the violations.
template <Backend B>
void check_laws(LawCase<B>& c) {
  if (!check_available(c)) return;
  check_purity(c);
  const Result<LoweredProgram> lowered = to_backend<B>(c.program, c.spec);
  check_selection(c, lowered.has_value());
  check_costs(c);
  if (!lowered) return c.broken("lowers", to_name(lowered.error()));
  if (!c.expect(*lowered)) return;
  check_compile(c, *lowered);
  check_sessions(c, *lowered);
  check_strides(c, *lowered);
  check_wrong_inputs(c, *lowered);
  check_execute(c, *lowered);
  check_tracer(c, *lowered);
  if constexpr (SavesProcessed<B>) check_saving(c, *lowered);
}

}  // namespace detail

/// Checks the laws of backend B on a program with one method, for each of the samples. Returns the violations; empty if
/// all laws hold. Choose programs that together use all features of the backend. Cost: about ten runs of each sample.
template <Backend B>
[[nodiscard]] std::vector<LawViolation> check_backend_laws(const ExportedProgram& program,
                                                           const typename B::CompileSpec& spec,
                                                           std::span<const SampleInputs> samples) {
  detail::LawCase<B> c{program, spec, samples};
  detail::check_laws(c);
  return std::move(c.violations);
}

/// check_backend with a callback: calls `report(law, what)` for each violation. True if all laws hold.
template <Backend B, class Report>
bool check_backend_laws(const ExportedProgram& program, const typename B::CompileSpec& spec,
                        std::span<const SampleInputs> samples, Report&& report) {
  const std::vector<LawViolation> violations = check_backend_laws<B>(program, spec, samples);
  for (const LawViolation& violation : violations) report(violation.law, violation.what.view());
  return violations.empty();
}

}  // namespace davit::testing
