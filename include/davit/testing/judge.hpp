// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "davit/core/contiguous.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/compare.hpp"
#include "davit/testing/eager.hpp"
#include "davit/testing/detail/numeric_gap.hpp"
#include "davit/testing/random_program.hpp"
#include "davit/testing/detail/snapshot.hpp"

namespace davit::testing {

/// Options of judge.
struct JudgeOptions {
  std::uint64_t runs = 3;
  Tolerance tolerance{1e-4, 1e-5};  ///< of differences that an eager run's rounding does not explain
  bool feed_back = true;            ///< outputs of a run are inputs of the next one
  std::uint64_t seed = 0;           ///< of the fed-back outputs
  /// Makes a backend of the list fail at its `call`-th call from now; 0: never. Every run is then made to fail at each
  /// call in turn (the first 50) before it is judged, and nothing is fed back. Null: no run may fail.
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

/// True if two indices may name one element, as in an expanded tensor or in overlapping windows of unfold.
[[nodiscard]] inline bool may_overlap_itself(const TensorView& t) {
  if (t.numel() == 0) return false;
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, size
  for (std::size_t d = 0; d < t.rank; ++d)
    if (t.size(d) > 1) dims.emplace_back(t.stride(d), t.size(d));
  std::ranges::sort(dims);
  std::int64_t last = 0;  // the farthest element that smaller strides reach
  for (const auto& [stride, size] : dims) {
    if (stride <= last) return true;
    last += (size - 1) * stride;
  }
  return false;
}

/// Eager runs with different perturbations, with consecutive seeds.
[[nodiscard]] inline std::vector<EagerProgram> rounding_programs(const ExportedProgram& program, BackendTables kernels,
                                                                 std::uint64_t seed, std::size_t count) {
  std::vector<EagerProgram> out;
  for (std::size_t i = 0; i < count; ++i) out.emplace_back(program, kernels).round_at_random(seed + i);
  return out;
}

/// The expected bools; `actual`'s bool where a perturbed run gives that one.
[[nodiscard]] inline Tensor possible_truths(const TensorView& actual, const TensorView& expected,
                                            std::span<const EValue> rounded) {
  Tensor out = contiguous(expected);
  const Tensor answered = contiguous(actual);
  const auto bytes = [](const Tensor& t) {
    return t.view().as<std::uint8_t>();
  };  // a backend may have written another byte than 0 or 1
  for (const EValue& each : rounded) {
    if (!each.is_tensor() || !same_type(each.tensor(), expected)) continue;
    const Tensor other = contiguous(each.tensor());
    for (std::size_t i = 0; i < out.storage.size(); ++i)
      if (bytes(other)[i] == bytes(answered)[i]) bytes(out)[i] = bytes(other)[i];
  }
  return out;
}

/// Describes how a value differs from an eager run's, or returns an empty string. Perturbed eager runs (`rounding`,
/// with their results) widen the tolerance: the value may be eight times as far off as one of them, and a bool may be
/// as in one of them. If one met numbers whose sums overflow depending on the order of terms, only dtype and shape are
/// compared.
[[nodiscard]] inline std::string difference(const EValue& actual, const EValue& expected,
                                            std::span<const EValue> rounded, std::span<const EagerProgram> rounding,
                                            Tolerance tolerance) {
  double gap = 0;
  for (const EValue& each : rounded) gap = std::max(gap, numeric_gap(each, expected).absolute);
  tolerance.atol += 8 * gap;
  const bool large = std::ranges::any_of(rounding, &EagerProgram::met_large_numbers);
  const bool anything = large || std::isinf(tolerance.atol);  // it divides by a number near 0
  const bool truths = actual.is_tensor() && expected.is_tensor() && expected.tensor().dtype == ScalarType::bool_ &&
                      same_type(actual.tensor(), expected.tensor());
  const Tensor possible = truths ? possible_truths(actual.tensor(), expected.tensor(), rounded) : Tensor{};
  return compare(actual, truths ? EValue(possible) : expected, tolerance, anything ? Check::shape_dtype : Check::close);
}

/// Describes an output that uses the memory of a caller's tensor, a buffer or another output, unlike in the eager run;
/// empty if there is none.
[[nodiscard]] inline std::string misplaced(const EagerProgram& eager, std::span<const EValue> outputs,
                                           std::span<const EValue> inputs, std::span<const Tensor> own,
                                           std::span<const NamedTensor> state) {
  const auto meet = [](const EValue& a, const TensorView& b) {
    return a.is_tensor() && overlap(memory_range(a.tensor()), memory_range(b));
  };
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::string name = "output " + std::to_string(k);
    for (std::size_t i = 0; i < own.size(); ++i)
      if (inputs[i].tensor().data == own[i].view().data && meet(outputs[k], own[i].view()) &&
          !eager.storages().may_lie_in_input(k, i))
        return name + " lies in the memory of input " + std::to_string(i);
    for (const NamedTensor& entry : state)
      if (meet(outputs[k], entry.tensor.view()) && !eager.storages().may_lie_in_state(k, entry.name.view()))
        return name + " lies in the state '" + std::string(entry.name.view()) + "'";
    for (std::size_t j = 0; j < k; ++j)
      if (outputs[j].is_tensor() && meet(outputs[k], outputs[j].tensor()) && !eager.storages().may_share(k, j))
        return name + " shares memory with output " + std::to_string(j);
  }
  return {};
}

/// Overwrites and frees the caller's tensors that no output may use. `outputs` and the mutated buffers must stay the
/// same; returns a sentence if they do not.
[[nodiscard]] inline std::string seal(const EagerProgram& eager, const Outputs& outputs, std::span<const EValue> inputs,
                                      std::vector<Tensor>& own, std::span<const NamedTensor> state) {
  std::vector<EValue> seen(outputs.all().begin(), outputs.all().end());
  for (const Output& mutation : outputs.mutations())
    if (std::ranges::any_of(state, [&](const NamedTensor& entry) { return entry.name == mutation.name(); }))
      seen.push_back(mutation.value());
  const Snapshot before(seen);
  std::vector<Tensor> gone;
  for (std::size_t i = 0; i < own.size(); ++i) {
    bool shown =
        own[i].numel() == 0 || inputs[i].tensor().data != own[i].view().data;  // or an output of the previous run
    for (std::size_t k = 0; k < outputs.all().size() && !shown; ++k) shown = eager.storages().may_lie_in_input(k, i);
    if (shown) continue;
    std::ranges::fill(std::span(own[i].storage.writable(), own[i].storage.size()), std::byte{0x5a});
    gone.push_back(std::exchange(own[i], Tensor{}));
  }
  if (Snapshot(seen) != before) return "an output changes when the caller's tensors are overwritten";
  gone.clear();
  return Snapshot(seen) == before ? "" : "an output changes when the caller's tensors are freed";
}

/// judge(), with that many perturbed eager runs.
[[nodiscard]] inline std::string judge_once(const RandomProgram& random_program, const LoweredProgram& lowered,
                                            BackendTables kernels, const JudgeOptions& options, std::size_t roundings) {
  const ExportedProgram& program = random_program.program();
  EagerProgram eager(program, kernels);
  std::vector<EagerProgram> rounding = rounding_programs(program, kernels, options.seed, roundings);
  const auto differing = [&](const EValue& actual, const EValue& expected, auto&& of_rounding) {
    std::vector<EValue> rounded;
    for (std::size_t i = 0; i < roundings; ++i) rounded.push_back(of_rounding(i));
    return difference(actual, expected, rounded, rounding, options.tolerance);
  };
  const GraphModuleView graph = program.view();
  const bool sees_storage =
      std::ranges::any_of(graph.nodes, [&](const Node& n) { return graph.target(n) == "aten.as_strided.default"; });
  Result<Session> session = Session::make(lowered);
  if (!session) return "no session: " + to_string(session.error());
  std::vector<EagerValue> last;
  std::vector<std::vector<EagerValue>> rounded(roundings), last_rounded(roundings);
  std::vector<EValue> answered;
  std::vector<std::vector<Tensor>> given;  // results may be views of these
  given.reserve(options.runs);
  Random random(options.seed + 1);
  for (std::uint64_t run = 0; run < options.runs; ++run) {
    const std::string place = "run " + std::to_string(run) + ", ";
    std::vector<Tensor>& own = given.emplace_back(random_program.user_inputs(run));
    std::vector<Tensor> expected_inputs;
    std::vector<std::vector<Tensor>> rounded_inputs(roundings);
    for (const Tensor& each : own) {
      expected_inputs.push_back(copy_of(each.view()));
      for (std::vector<Tensor>& of_rounding : rounded_inputs) of_rounding.push_back(copy_of(each.view()));
    }
    std::vector<EValue> inputs;
    for (std::size_t i = 0; i < own.size(); ++i) {
      inputs.emplace_back(own[i].view());
      if (!options.feed_back || options.fail_at != nullptr || last.empty() || random.one_in(2)) continue;
      const std::size_t k = random.below(last.size());  // an output is fed back without a copy
      if (!last[k].tensor || !detail::same_type(last[k].tensor->view(), own[i].view())) continue;
      // not fed back: outputs that overlap themselves, as expanded ones, because a write would change several elements
      // or fail, depending on the backend; and outputs that share memory with another input or the state, because they
      // would change during the run, as in torch
      if (detail::may_overlap_itself(answered[k].tensor()) || detail::may_overlap_itself(last[k].tensor->view()))
        continue;
      if (sees_storage && !(answered[k].tensor().is_contiguous() && last[k].tensor->view().is_contiguous()))
        continue;  // only one may have gaps
      const MemoryRange fed = memory_range(answered[k].tensor());
      if (std::ranges::any_of(std::span(inputs).first(i),
                              [&](const EValue& other) { return overlap(fed, memory_range(other.tensor())); }))
        continue;
      if (std::ranges::any_of(session->state(), [&](const NamedTensor& entry) {
            return overlap(fed, memory_range(entry.tensor.view()));
          }))
        continue;
      inputs[i] = answered[k];
      expected_inputs[i] = copy_of(last[k].tensor->view());
      for (std::size_t r = 0; r < roundings; ++r) rounded_inputs[r][i] = copy_of(last_rounded[r][k].tensor->view());
    }
    std::vector<EValue> expected_values(expected_inputs.begin(), expected_inputs.end());
    Result<std::vector<EagerValue>> expected = eager.run(expected_values);
    if (!expected) return place + "the reference fails: " + to_string(expected.error());
    for (std::size_t r = 0; r < roundings; ++r) {
      const std::vector<EValue> values(rounded_inputs[r].begin(), rounded_inputs[r].end());
      Result<std::vector<EagerValue>> made = rounding[r].run(values);
      if (!made) return place + "the reference fails where it rounds otherwise: " + to_string(made.error());
      rounded[r] = *std::move(made);
    }
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
      if (const std::string differs =
              differing(all[k], (*expected)[k].value(), [&](std::size_t r) { return rounded[r][k].value(); });
          !differs.empty())
        return place + "output " + std::to_string(k) + ": " + differs;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (inputs[i].tensor().data == own[i].view().data)
        if (const std::string differs = differing(EValue(own[i]), EValue(expected_inputs[i]),
                                                  [&](std::size_t r) { return EValue(rounded_inputs[r][i]); });
            !differs.empty())
          return place + "input " + std::to_string(i) + " afterwards: " + differs;
    for (const NamedTensor& entry : session->state())
      for (std::size_t i = 0; i < eager.state().size(); ++i)
        if (const NamedTensor& other = eager.state()[i]; entry.name == other.name)
          if (const std::string differs =
                  differing(EValue(entry.tensor), EValue(other.tensor),
                            [&](std::size_t r) { return EValue(rounding[r].state()[i].tensor); });
              !differs.empty())
            return place + "state '" + std::string(entry.name.view()) + "': " + differs;
    if (!session->plan(0).is_sound()) return place + "the plan is not sound";
    if (const std::string found = misplaced(eager, all, inputs, own, session->state()); !found.empty())
      return place + found;
    if (const std::string found = seal(eager, *outputs, inputs, own, session->state()); !found.empty())
      return place + found;
    last = std::move(*expected);
    std::swap(last_rounded, rounded);
    answered.assign(all.begin(), all.end());
  }
  return {};
}

}  // namespace detail

/// Runs a lowered program several times beside an eager run of its original, and compares all outputs, all changed
/// inputs, and the state. Then the inputs are overwritten and freed, unless the eager run returns them, and the outputs
/// must stay the same; nor may an output share memory with state or another output unless the eager run's does. From
/// the second run on, fitting outputs of the previous run are inputs: the session's own tensors, without copies. Empty
/// if all is equal, else a sentence.
///
/// A difference that the reference itself shows when its rounding is perturbed (cancellation) does not count; nor do
/// the effects of numbers near the end of their range.
[[nodiscard]] inline std::string judge(const RandomProgram& random_program, const LoweredProgram& lowered,
                                       BackendTables kernels, const JudgeOptions& options = {}) {
  std::string differs = detail::judge_once(random_program, lowered, kernels, options, 0);
  // rounding sometimes decides which of two equal numbers is the larger, and in which direction a tie is rounded
  if (!differs.empty()) differs = detail::judge_once(random_program, lowered, kernels, options, 32);
  return differs;
}

}  // namespace davit::testing
