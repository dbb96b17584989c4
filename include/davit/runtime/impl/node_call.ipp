// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/runtime/node_call.hpp"
#include "davit/runtime/prepare_delegate.hpp"

namespace davit {

Result<std::optional<NodeCall>> NodeCall::make(const ExportedProgram& program, BackendTables backends) {
  std::size_t b = 0;
  while (b < backends.size() && backends.refuses(b, program.view(), 0) != nullptr) ++b;
  if (b == backends.size()) return std::optional<NodeCall>();
  NodeCall call;
  call.backend_ = &backends[b];
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("node", program.view());
  const BackendObject spec = call.backend_->default_spec();
  const Result<BackendObject> processed = call.backend_->preprocess(Method{"node", &program}, spec.get(), recorder);
  if (!processed) return error_of(processed);
  Result<BackendObject> handle = call.backend_->compile(processed->get(), spec.get());
  if (!handle) return error_of(std::move(handle));
  call.handle_ = *std::move(handle);
  call.workspace_ = call.backend_->make_workspace();
  return std::optional<NodeCall>(std::move(call));
}

Result<void> NodeCall::run(std::span<const EValue> inputs, std::span<EValue> outputs, std::uint64_t max_memory) {
  if (Result<void> ready =
          prepare_delegate(*backend_, handle_.get(), inputs, outputs, workspace_.get(), scratch_, max_memory);
      !ready)
    return ready;
  TextReport report;
  const Status done = backend_->execute({.handle = handle_.get(),
                                         .workspace = workspace_.get(),
                                         .inputs = inputs,
                                         .outputs = outputs,
                                         .scratch = scratch_.span(),
                                         .max_memory = max_memory,
                                         .report = &report});
  if (done) return {};
  return std::unexpected(Error{.code = done.error().code(),
                               .stage = Stage::execute,
                               .backend = Name(backend_->name),
                               .what = std::move(report.text)});
}

}  // namespace davit
