// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "davit/core/catch_bad_alloc.hpp"
#include "davit/lowering/to_backend.hpp"

namespace davit::detail {

Result<LoweredProgram> lower_whole(BackendTables backends, std::span<const ProgramMethod> methods,
                                   std::span<const std::pair<Name, BackendObject>> specs, Diagnostics* diagnostics) {
  struct Whole {
    std::string_view backend;
    BackendObject spec;
  };
  std::vector<ProgramMethod> named;
  std::vector<Whole> wholes;
  wholes.reserve(specs.size());
  std::vector<PartitionCall> calls;
  for (const auto& [method, spec] : specs) {
    Result<const ExportedProgram*> program = find_program(methods, method);
    if (!program) return error_of(std::move(program));
    for (const ProgramMethod& other : named)
      if (other.name == method)
        return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                     .stage = Stage::preprocess,
                                     .backend = Name(backends.name(0)),
                                     .what = concat("method '", method, "' has two compile specs"),
                                     .fix = "give one compile spec per method"});
    named.push_back({method, *program});
    wholes.push_back({backends.name(0), spec});
    calls.push_back({method,
                     &wholes.back(),
                     [](const void* self, const Method& each) -> Result<PartitionResult> {
                       const Whole& whole = *static_cast<const Whole*>(self);
                       return whole_method(each, whole.backend, 0, whole.spec);
                     },
                     {0}});
  }
  return lower_program(backends, named, calls, {}, diagnostics);
}

Result<LoweredProgram> lower_whole(BackendTables backends, const ExportedProgram& program, BackendObject spec,
                                   Diagnostics* diagnostics) {
  return catch_bad_alloc(Stage::preprocess, [&] {
    const ProgramMethod method{"forward", &program};
    const std::pair<Name, BackendObject> forward{Name("forward"), std::move(spec)};
    return lower_whole(backends, std::span(&method, 1), std::span(&forward, 1), diagnostics);
  });
}

}  // namespace davit::detail
