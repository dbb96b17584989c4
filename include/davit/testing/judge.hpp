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

/// How a lowered program is judged.
struct JudgeOptions {
  std::uint64_t runs = 3;
  Tolerance tolerance{1e-4, 1e-5};  ///< of what is no more than rounding in an eager run either
  bool feed_back = true;            ///< outputs of a run are passed to the next one
  std::uint64_t seed = 0;           ///< of what is fed back
  /// Makes a backend of the list fail at its call number `call` from now; 0: never. Then every run is made to fail at
  /// each call in turn (of many, at the first 50) before it is judged, and nothing is fed back. Null: no run may fail.
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

/// True if two indices may name the same element: what was expanded, or unfolded to windows that overlap.
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

/// Eager runs that each round otherwise, by seeds that follow each other.
[[nodiscard]] inline std::vector<EagerProgram> rounding_programs(const ExportedProgram& program, BackendTables kernels,
                                                                 std::uint64_t seed, std::size_t count) {
  std::vector<EagerProgram> out;
  for (std::size_t i = 0; i < count; ++i) out.emplace_back(program, kernels).round_at_random(seed + i);
  return out;
}

/// The truths that are expected; those of `actual` where a run that rounds otherwise gives the same.
[[nodiscard]] inline Tensor possible_truths(const TensorView& actual, const TensorView& expected,
                                            std::span<const EValue> rounded) {
  Tensor out = contiguous(expected);
  const Tensor answered = contiguous(actual);
  const auto bytes = [](const Tensor& t) {
    return t.view().as<std::uint8_t>();
  };  // what a backend wrote there may be no bool
  for (const EValue& each : rounded) {
    if (!each.is_tensor() || !same_type(each.tensor(), expected)) continue;
    const Tensor other = contiguous(each.tensor());
    for (std::size_t i = 0; i < out.storage.size(); ++i)
      if (bytes(other)[i] == bytes(answered)[i]) bytes(out)[i] = bytes(other)[i];
  }
  return out;
}

/// How a value differs from that of an eager run, if it does. Beside eager runs that round at random (`rounding`, and
/// what they give) what differs may be eight times as far off as one of them is, a truth what it is in one of them, and
/// where one meets numbers whose sums overflow by the order of their terms, dtype and shape are compared only.
[[nodiscard]] inline std::string difference(const EValue& actual, const EValue& expected,
                                            std::span<const EValue> rounded, std::span<const EagerProgram> rounding,
                                            Tolerance tolerance) {
  double gap = 0;
  for (const EValue& each : rounded) gap = std::max(gap, numeric_gap(each, expected).absolute);
  tolerance.atol += 8 * gap;
  const bool large = std::ranges::any_of(rounding, &EagerProgram::met_large_numbers);
  const bool anything = large || std::isinf(tolerance.atol);  // it divides by what is 0 or next to it
  const bool truths = actual.is_tensor() && expected.is_tensor() && expected.tensor().dtype == ScalarType::bool_ &&
                      same_type(actual.tensor(), expected.tensor());
  const Tensor possible = truths ? possible_truths(actual.tensor(), expected.tensor(), rounded) : Tensor{};
  return compare(actual, truths ? EValue(possible) : expected, tolerance, anything ? Check::shape_dtype : Check::close);
}

/// Where an output lies that lies elsewhere in the eager run's program: a tensor of the caller's, a buffer, another
/// output. Empty if none does.
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

/// Overwrites and frees the caller's tensors that no output may show. What `outputs` and the mutations of buffers hold
/// must not follow; a sentence if it does.
[[nodiscard]] inline std::string seal(const EagerProgram& eager, const Outputs& outputs, std::span<const EValue> inputs,
                                      std::vector<Tensor>& own, std::span<const NamedTensor> state) {
  std::vector<EValue> seen(outputs.all().begin(), outputs.all().end());
  for (const Output& mutation : outputs.mutations())
    if (std::ranges::any_of(state, [&](const NamedTensor& entry) { return entry.name == mutation.name(); }))
      seen.push_back(mutation.value());
  const Snapshot before(seen);
  std::vector<Tensor> gone;
  for (std::size_t i = 0; i < own.size(); ++i) {
    bool shown = own[i].numel() == 0 ||
                 inputs[i].tensor().data != own[i].view().data;  // the latter: an output of the run before
    for (std::size_t k = 0; k < outputs.all().size() && !shown; ++k) shown = eager.storages().may_lie_in_input(k, i);
    if (shown) continue;
    std::ranges::fill(std::span(own[i].storage.writable(), own[i].storage.size()), std::byte{0x5a});
    gone.push_back(std::exchange(own[i], Tensor{}));
  }
  if (Snapshot(seen) != before) return "what it answered changes when the caller's tensors are overwritten";
  gone.clear();
  return Snapshot(seen) == before ? "" : "what it answered changes when the caller's tensors are freed";
}

/// judge(), beside so many eager runs that round at random.
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
  std::vector<std::vector<Tensor>> given;  // answers may be views of them
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
      const std::size_t k = random.below(last.size());  // an output is fed back where it lies
      if (!last[k].tensor || !detail::same_type(last[k].tensor->view(), own[i].view())) continue;
      // an input that another input or the state shares memory with would change while the program runs, as in torch
      // what was expanded or overlaps itself cannot be written, or is written in several places at once; whether an
      // answer still is depends on the backend
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

/// Runs a lowered program several times beside an eager run of the program that it was made from, and compares all
/// outputs, all inputs that it may have changed, and the state. Then what was passed is overwritten and freed, unless
/// the eager run answers it, and the outputs must be as they were; nor may one lie in state or in another one where the
/// eager run's does not. From the second run on, outputs of the run before are passed as inputs where they fit: the
/// session's own, as they lie. Empty if all is the same, else a sentence.
///
/// Where the reference itself would be as far off if it rounded otherwise (numbers that cancel out), that is no
/// difference; nor is what numbers near the end of their range become.
[[nodiscard]] inline std::string judge(const RandomProgram& random_program, const LoweredProgram& lowered,
                                       BackendTables kernels, const JudgeOptions& options = {}) {
  std::string differs = detail::judge_once(random_program, lowered, kernels, options, 0);
  // which of two equal numbers is the larger, and which way the middle between two steps is rounded, rounding tells
  // once in a while
  if (!differs.empty()) differs = detail::judge_once(random_program, lowered, kernels, options, 32);
  return differs;
}

}  // namespace davit::testing
