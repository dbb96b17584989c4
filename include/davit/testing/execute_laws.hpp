// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/tensor.hpp"
#include "davit/runtime/prepare_delegate.hpp"
#include "davit/testing/law_case.hpp"

namespace davit::testing::detail {

/// functional, inputs, destination: calls execute itself, with and without destinations, for methods without state.
template <Backend B>
void check_execute(LawCase<B>& c, const LoweredProgram& program) {
  const LoweredMethod& method = program.methods()[0];
  if (method.delegates.size() != 1) return;
  const auto& handle = handle_of<B>(method.delegates[0]);
  for (const InputPort& port : method.interface.inputs)
    if (port.role != InputRole::user || port.constant) return;
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    for (const bool with_destinations : {false, true}) {
      workspace_of<B> workspace{};
      Scratch scratch;
      const Snapshot inputs(c.samples[i]);
      std::vector<EValue> outputs(method.interface.outputs.size());
      std::vector<Tensor> destinations;
      destinations.reserve(outputs.size());
      for (std::size_t k = 0; with_destinations && k < outputs.size(); ++k) {
        const PortType& type = method.interface.outputs[k].type;
        if (type.tag != EValue::Tag::tensor || !std::ranges::all_of(type.dims, &Dim::is_static)) continue;
        std::vector<std::int64_t> sizes;
        for (const Dim& d : type.dims) sizes.push_back(d.value);
        destinations.push_back(Tensor::zeros(type.dtype, sizes));
        outputs[k] = destinations.back().view();
      }
      if (Result<void> prepared = prepare_delegate(backend_table<B>, &handle, c.samples[i], outputs, &workspace, scratch); !prepared)
        return c.broken("outputs", "prepare: ", to_name(prepared.error()));
      NullTracer tracer;
      NoReport report;
      ExecuteContext<NullTracer, NoReport, workspace_of<B>> context(tracer, report, workspace, scratch.span());
      const Status status = B::execute(handle, c.samples[i], std::span<EValue>(outputs), context);
      if (!status) return c.broken("functional", "execute without a session failed: ", name_of(status.error().code()));
      if (Snapshot(c.samples[i]) != inputs) c.broken("inputs", "execute changed its inputs");
      if (!c.mutates_inputs() && Snapshot(outputs) != c.expected[i])
        c.broken(with_destinations ? "destination" : "functional", "execute without a session gave another result");
    }
  }
}

}  // namespace davit::testing::detail
