// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/backend/execute_context.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/testing/compare.hpp"
#include "davit/testing/detail/law_case.hpp"

namespace davit::testing::detail {

/// compile: equally compiled handles give the same results.
template <Backend B>
void check_compile(LawCase<B>& c, const LoweredProgram& program) {
  auto parts = std::make_shared<LoweredProgram::Parts>(program.parts());
  for (LoweredDelegate& delegate : parts->methods[0].delegates) {
    Result<BackendObject> handle = backend_table<B>.compile(delegate.processed.get(), delegate.spec.get());
    if (!handle) return c.broken("compile", "a second compile failed: ", to_name(handle.error()));
    delegate.handle = *std::move(handle);
  }
  c.same_results("compile", LoweredProgram(std::move(parts), program.shared_debug_map()), "a second handle");
}

/// sessions, functional: runs of one session change neither the values nor the later results of another.
template <Backend B>
void check_sessions(LawCase<B>& c, const LoweredProgram& program) {
  if (c.mutates_inputs()) return;
  c.same_results("functional", program, "a second session");
  Result<Session> first = Session::make(program);
  Result<Session> second = Session::make(program);
  if (!first || !second) return c.broken("sessions", "no memory for a session");
  Session& one = *first;
  Session& other = *second;
  const bool stateless = program.state().empty();  // with state, results depend on earlier calls
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    const std::size_t opposite = c.samples.size() - 1 - i;
    Result<Outputs> outputs = one.run(0, c.samples[i]);
    Result<Outputs> others = other.run(0, c.samples[opposite]);
    if (!outputs) return c.broken("sessions", to_name(outputs.error()));
    if (!others) return c.broken("sessions", to_name(others.error()));
    if (Snapshot(outputs->all()) != c.expected[i])
      c.broken("sessions", "sample ", i, " changed when another session ran");
    if (stateless && Snapshot(others->all()) != c.expected[opposite])
      c.broken("sessions", "sample ", opposite, " gave another result between calls of another session");
  }
  if (!stateless) return;
  for (std::size_t i = c.samples.size(); i-- > 0;) {
    Result<Outputs> outputs = one.run(0, c.samples[i]);
    if (!outputs || Snapshot(outputs->all()) != c.expected[i])
      c.broken("functional", "sample ", i, " gave another result later");
  }
}

/// Tensors with a gap behind each element and, where there are several, beneath each row: valid inputs of callers.
class GappedInputs {
 public:
  explicit GappedInputs(SampleInputs sample) : values_(sample.begin(), sample.end()), layouts_(sample.size()) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i].is_tensor()) continue;
      const TensorView from = values_[i].tensor();
      Layout& to = layouts_[i];
      std::int64_t step = 2;
      to.strides.resize(from.rank);
      for (std::size_t d = from.rank; d-- > 0; step = step * std::max<std::int64_t>(from.size(d), 1) + 2)
        to.strides[d] = step;
      const std::int64_t extent[] = {step};
      to.storage = Tensor::zeros(from.dtype, extent);
      const TensorView view{to.storage.view().data, from.sizes_data, to.strides.data(), from.rank, from.dtype};
      copy_tensor(from, view);
      values_[i] = EValue(view);
    }
  }
  [[nodiscard]] std::span<const EValue> values() const noexcept { return values_; }

 private:
  struct Layout {
    std::vector<std::int64_t> strides;
    Tensor storage;
  };
  std::vector<EValue> values_;
  std::vector<Layout> layouts_;
};

/// strides: inputs of other strides give the same results, up to rounding.
template <Backend B>
void check_strides(LawCase<B>& c, const LoweredProgram& program) {
  if (c.mutates_inputs()) return;
  Result<Session> dense = Session::make(program);
  Result<Session> gapped = Session::make(program);
  if (!dense || !gapped) return c.broken("sessions", "no memory for a session");
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    const GappedInputs inputs(c.samples[i]);
    const Result<Outputs> expected = dense->run(0, c.samples[i]);
    const Result<Outputs> outputs = gapped->run(0, inputs.values());
    if (!expected || !outputs) return c.broken("strides", to_name(expected ? outputs.error() : expected.error()));
    for (std::size_t k = 0; k < expected->all().size(); ++k)
      if (const std::string difference =
              compare(outputs->all()[k], expected->all()[k], {.rtol = 1e-3, .atol = 1e-4}, Check::close);
          !difference.empty())
        return c.broken("strides", "sample ", i, ", output ", k, ": ", difference);
  }
}

/// checked: wrong inputs are refused and do no harm.
template <Backend B>
void check_wrong_inputs(LawCase<B>& c, const LoweredProgram& program) {
  if (c.samples.empty()) return;
  Result<Session> made = Session::make(program);
  if (!made) return c.broken("sessions", to_name(made.error()));
  Session& session = *made;
  const auto refused = [&](std::span<const EValue> inputs, std::string_view how) {
    const Result<Outputs> outputs = session.run(0, inputs);
    if (outputs) return c.broken("checked", how, " was accepted");
    const ErrorCode code = outputs.error().code;
    if (code != ErrorCode::invalid_argument && code != ErrorCode::invalid_dtype && code != ErrorCode::invalid_shape)
      c.broken("checked", how, " gave ", name_of(code));
  };
  std::vector<EValue> inputs(c.samples[0].begin(), c.samples[0].end());
  inputs.emplace_back(std::int64_t{1});
  refused(inputs, "one input too many");
  inputs.pop_back();
  const std::int64_t sizes[max_rank] = {};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_tensor()) continue;
    const EValue right = inputs[i];
    inputs[i] = EValue("text");
    refused(inputs, "a str for a tensor");
    TensorView wrong = right.tensor();
    wrong.dtype = wrong.dtype == ScalarType::uint8 ? ScalarType::int8 : ScalarType::uint8;
    inputs[i] = wrong;
    refused(inputs, "another dtype");
    wrong = right.tensor();
    wrong.rank = wrong.rank == 0 ? 1 : 0;
    if (wrong.rank == 1) wrong.sizes_data = wrong.strides_data = sizes;
    inputs[i] = wrong;
    refused(inputs, "another rank");
    inputs[i] = right;
  }
  if (c.mutates_inputs() || !program.state().empty()) return;
  Result<Outputs> outputs = session.run(0, c.samples[0]);
  if (!outputs || Snapshot(outputs->all()) != c.expected[0])
    c.broken("checked", "after wrong inputs, right ones gave another result");
}

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
