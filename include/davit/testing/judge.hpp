// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "davit/core/copy_tensor.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/compare.hpp"
#include "davit/testing/eager.hpp"
#include "davit/testing/random_program.hpp"
#include "davit/testing/snapshot.hpp"

namespace davit::testing {

/// How a lowered program is judged.
struct JudgeOptions {
  std::uint64_t runs = 3;
  Tolerance tolerance{1e-3, 1e-4};  ///< sums of hundreds cancel out
  bool feed_back = true;   ///< outputs of a run are passed to the next one
  std::uint64_t seed = 0;  ///< of what is fed back
  /// Makes a backend of the list fail at its call number `call` from now; 0: never. Then every run is made to fail at each call
  /// in turn (of many, at the first 50) before it is judged, and nothing is fed back. Null: no run may fail.
  void (*fail_at)(std::uint64_t call) = nullptr;
};

namespace detail {

[[nodiscard]] inline std::vector<EValue> state_of(const Session& session) {
  std::vector<EValue> out;
  for (const NamedTensor& entry : session.state()) out.emplace_back(entry.tensor);
  return out;
}
[[nodiscard]] inline bool same_type(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && std::ranges::equal(a.sizes(), b.sizes());
}

}  // namespace detail

/// Runs a lowered program several times beside an eager run of the program that it was made from, and compares all outputs,
/// all inputs that it may have changed, and the state. From the second run on, outputs of the run before are passed as inputs
/// where they fit: the session's own, as they lie. Empty if all is the same, else a sentence.
[[nodiscard]] inline std::string judge(const RandomProgram& random_program, const LoweredProgram& lowered, BackendTables kernels,
                                       const JudgeOptions& options = {}) {
  const ExportedProgram& program = random_program.program();
  EagerProgram eager(program, kernels);
  Result<Session> session = Session::make(lowered);
  if (!session) return "no session: " + to_string(session.error());
  std::vector<EagerValue> last;
  std::vector<EValue> answered;
  std::vector<std::vector<Tensor>> given;  // answers may be views of them
  given.reserve(options.runs);
  Random random(options.seed + 1);
  for (std::uint64_t run = 0; run < options.runs; ++run) {
    const std::string place = "run " + std::to_string(run) + ", ";
    const std::vector<Tensor>& own = given.emplace_back(random_program.user_inputs(run));
    std::vector<Tensor> expected_inputs;
    for (const Tensor& each : own) expected_inputs.push_back(copy_of(each.view()));
    std::vector<EValue> inputs;
    for (std::size_t i = 0; i < own.size(); ++i) {
      inputs.emplace_back(own[i].view());
      if (!options.feed_back || options.fail_at != nullptr || last.empty() || random.one_in(2)) continue;
      const std::size_t k = random.below(last.size());  // an output is fed back where it lies
      if (!last[k].tensor || !detail::same_type(last[k].tensor->view(), own[i].view())) continue;
      // an input that another input or the state shares memory with would change while the program runs, as in torch
      // what was expanded cannot be written, or is written everywhere at once; whether an answer still is depends on the backend
      if (repeats_elements(answered[k].tensor()) || repeats_elements(last[k].tensor->view())) continue;
      const Footprint fed = footprint(answered[k].tensor());
      if (std::ranges::any_of(std::span(inputs).first(i), [&](const EValue& other) { return overlap(fed, footprint(other.tensor())); })) continue;
      if (std::ranges::any_of(session->state(), [&](const NamedTensor& entry) { return overlap(fed, footprint(entry.tensor.view())); })) continue;
      inputs[i] = answered[k];
      expected_inputs[i] = copy_of(last[k].tensor->view());
    }
    std::vector<EValue> expected_values(expected_inputs.begin(), expected_inputs.end());
    Result<std::vector<EagerValue>> expected = eager.run(expected_values);
    if (!expected) return place + "the reference fails: " + to_string(expected.error());
    Result<Outputs> outputs = std::unexpected(Error{});
    for (std::uint64_t call = 1; options.fail_at != nullptr && !outputs && call <= 50; ++call) {
      const Snapshot inputs_before(inputs);
      const Snapshot state_before(detail::state_of(*session));
      options.fail_at(call);
      outputs = session->run(0, inputs);
      options.fail_at(0);
      if (outputs) break;
      if (Snapshot(inputs) != inputs_before) return place + "a run that failed changed an input";
      if (Snapshot(detail::state_of(*session)) != state_before) return place + "a run that failed changed the state";
    }
    if (!outputs) outputs = session->run(0, inputs);
    if (!outputs) return place + to_string(outputs.error());
    const std::span<const EValue> all = outputs->all();
    if (all.size() != expected->size()) return place + "another number of outputs";
    for (std::size_t k = 0; k < all.size(); ++k)
      if (const std::string differs = compare(all[k], (*expected)[k].value(), options.tolerance); !differs.empty())
        return place + "output " + std::to_string(k) + ": " + differs;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (inputs[i].tensor().data == own[i].view().data)
        if (const std::string differs = compare(EValue(own[i]), EValue(expected_inputs[i]), options.tolerance); !differs.empty())
          return place + "input " + std::to_string(i) + " afterwards: " + differs;
    for (const NamedTensor& entry : session->state())
      for (const NamedTensor& other : eager.state())
        if (entry.name == other.name)
          if (const std::string differs = compare(EValue(entry.tensor), EValue(other.tensor), options.tolerance); !differs.empty())
            return place + "state '" + std::string(entry.name.view()) + "': " + differs;
    if (!session->plan(0).is_sound()) return place + "the plan is not sound";
    last = std::move(*expected);
    answered.assign(all.begin(), all.end());
  }
  return {};
}

}  // namespace davit::testing
