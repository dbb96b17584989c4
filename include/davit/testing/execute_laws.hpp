// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/tensor.hpp"
#include "davit/runtime/prepare_delegate.hpp"
#include "davit/testing/law_case.hpp"

namespace davit::testing::detail {

/// functional, inputs, destination: calls execute itself, with and without destinations, for methods that are one partition
/// without state.
template <Backend B>
void check_execute(LawCase<B>& c, const LoweredProgram& program) {
  const LoweredMethod& method = program.methods()[0];
  if (method.delegates.size() != 1) return;
  const LoweredDelegate& delegate = method.delegates[0];
  const auto& handle = handle_of<B>(delegate);
  for (const InputPort& port : method.interface.inputs)
    if (port.role != InputRole::user || port.constant) return;
  const auto index_of = [](const auto& ports, std::string_view name) {
    std::size_t i = 0;
    while (i < ports.size() && ports[i].name != name) ++i;
    return i;
  };
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    std::vector<EValue> inputs;
    for (const InputPort& port : delegate.interface.inputs) {
      const std::size_t at = index_of(method.interface.inputs, port.name);
      if (at == method.interface.inputs.size()) return;
      inputs.push_back(c.samples[i][at]);
    }
    for (const bool with_destinations : {false, true}) {
      workspace_of<B> workspace{};
      Scratch scratch;
      const Snapshot before(inputs);
      std::vector<EValue> outputs(delegate.interface.outputs.size());
      std::vector<Tensor> destinations;
      destinations.reserve(outputs.size());
      for (std::size_t k = 0; with_destinations && k < outputs.size(); ++k) {
        const PortType& type = delegate.interface.outputs[k].type;
        if (type.tag != EValue::Tag::tensor || !std::ranges::all_of(type.dims, &Dim::is_static)) continue;
        std::vector<std::int64_t> sizes;
        for (const Dim& d : type.dims) sizes.push_back(d.value);
        destinations.push_back(Tensor::zeros(type.dtype, sizes));
        outputs[k] = destinations.back().view();
      }
      if (Result<void> prepared = prepare_delegate(backend_table<B>, &handle, inputs, outputs, &workspace, scratch); !prepared)
        return c.broken("outputs", "prepare: ", to_name(prepared.error()));
      NullTracer tracer;
      NoReport report;
      ExecuteContext<NullTracer, NoReport, workspace_of<B>> context(tracer, report, workspace, scratch.span());
      const Status status = B::execute(handle, inputs, std::span<EValue>(outputs), context);
      if (!status) return c.broken("functional", "execute without a session failed: ", name_of(status.error().code()));
      if (Snapshot(inputs) != before) c.broken("inputs", "execute changed its inputs");
      std::vector<EValue> answered;  // as the method answers them
      for (const OutputPort& port : method.interface.outputs) {
        const std::size_t at = index_of(delegate.interface.outputs, port.name);
        if (at == outputs.size()) return;
        answered.push_back(outputs[at]);
      }
      if (!c.mutates_inputs() && Snapshot(answered) != c.expected[i])
        c.broken(with_destinations ? "destination" : "functional", "execute without a session gave another result");
    }
  }
}

}  // namespace davit::testing::detail
