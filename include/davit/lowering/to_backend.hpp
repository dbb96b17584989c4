// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/diagnostics.hpp"
#include "davit/lowering/lowered_module.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/verify.hpp"

namespace davit {

/// A method of a program with several: its name and its program.
struct ProgramMethod {
  Name name;
  const ExportedProgram* program = nullptr;
};

namespace detail {

template <class B>
consteval void require_backend() {
  static_assert(RuntimeBackend<B>,
                "davit: to_backend<B> needs a backend: B must have name, CompileSpec, Processed, Handle, is_available(), "
                "compile(processed, spec) and execute(handle, inputs, outputs, context); see davit/backend/contract.hpp");
  if constexpr (RuntimeBackend<B>)
    static_assert(PreprocessorFor<preprocessor_of<B>, B>,
                  "davit: to_backend<B> needs preprocess(method, spec, debug_handles) -> Result<Processed> in B or in "
                  "B::Preprocessor; see davit/backend/contract.hpp");
}

[[nodiscard]] inline Error all_of(std::vector<Error> violations) {
  Error first = std::move(violations.front());
  if (violations.size() > 1) {
    first.what = concat(first.what, " (and ", violations.size() - 1, " more)");
    for (std::size_t i = 1; i < violations.size() && i < 20; ++i)
      first.source = concat(first.source, first.source.empty() ? "" : "\n", "  ", violations[i].where, ": ", violations[i].what);
  }
  return first;
}

[[nodiscard]] inline Result<const ExportedProgram*> find_program(std::span<const ProgramMethod> methods, std::string_view name) {
  Name known;
  for (const ProgramMethod& method : methods) {
    if (method.name == name) return method.program;
    known = concat(known, known.empty() ? "" : ", ", method.name);
  }
  return std::unexpected(Error{.code = ErrorCode::not_found,
                               .stage = Stage::preprocess,
                               .what = concat("Method '", name, "' is not defined"),
                               .fix = concat("the program has: ", known)});
}

/// The state of programs that are lowered together: what one of them changes is state for all that hold it.
class SharedState {
 public:
  /// The programs must be verified. O(their sizes).
  explicit SharedState(std::span<const ExportedProgram* const> programs) {
    for (const ExportedProgram* program : programs) {
      for (const Name& name : written_in_place(*program)) add(*program, name);
      for (const OutputSpec& spec : program->signature.output_specs)
        if (kind(spec) == OutputKind::buffer_mutation || kind(spec) == OutputKind::parameter_mutation) add(*program, *target(spec));
    }
    std::ranges::sort(changed_, {}, &Changed::name);
  }
  /// The program itself, or a copy of it in `own` whose signature names the state that its outputs do not.
  [[nodiscard]] const ExportedProgram* mark(const ExportedProgram& program, ExportedProgram& own) const {
    if (changed_.empty()) return &program;
    std::vector<Name> unlisted;
    for (const InputSpec& spec : program.signature.input_specs) {
      const Name* held = kind(spec) == InputKind::custom_obj ? nullptr : target(spec);
      if (held != nullptr && changes(*held, program) && !is_mutated(program.signature, *held)) unlisted.push_back(*held);
    }
    if (unlisted.empty()) return &program;
    own = program;
    own.signature.unlisted_state = std::move(unlisted);
    return &own;
  }

 private:
  void add(const ExportedProgram& program, const Name& name) {
    if (const Tensor* tensor = program.tensor_named(name); tensor != nullptr) changed_.push_back({name, tensor});
  }
  /// A tensor of the same name but of another dtype or of other sizes is another one.
  [[nodiscard]] bool changes(const Name& name, const ExportedProgram& program) const {
    const Tensor* own = nullptr;
    for (auto at = std::ranges::lower_bound(changed_, name, {}, &Changed::name); at != changed_.end() && at->name == name; ++at) {
      if (own == nullptr) own = program.tensor_named(name);
      if (own != nullptr && own->dtype == at->tensor->dtype && own->sizes == at->tensor->sizes) return true;
    }
    return false;
  }
  struct Changed {
    Name name;
    const Tensor* tensor;
  };
  std::vector<Changed> changed_;  ///< by name
};

}  // namespace detail

/// Lowers the methods named in `specs` onto backend B. The programs stay untouched.
///
/// In this order: every method is looked up and verified, preprocessed, then, if B is available here, compiled. If it is
/// not, lowering succeeds with a warning: the module can be saved, and runs where it is loaded with B available.
/// Errors: not_found, what verify, preprocess and compile report. O(nodes) beside the backend's own work.
/// Source: torch::jit::detail::codegen_backend_module.
template <class B>
[[nodiscard]] Result<LoweredModule<B>> to_backend(std::span<const ProgramMethod> methods,
                                                  std::span<const MethodCompileSpec<B>> specs,
                                                  Diagnostics* diagnostics = nullptr) {
  detail::require_backend<B>();
  std::vector<const ExportedProgram*> programs;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Result<const ExportedProgram*> program = detail::find_program(methods, specs[i].method);
    if (!program) return std::unexpected(std::move(program.error()));
    for (std::size_t k = 0; k < i; ++k)
      if (specs[k].method == specs[i].method)
        return std::unexpected(Error{.code = ErrorCode::invalid_argument, .stage = Stage::preprocess, .backend = B::name,
                                     .what = concat("method '", specs[i].method, "' has two compile specs"),
                                     .fix = "give one compile spec per method"});
    if (std::vector<Error> violations = verify(**program, {.allow_unknown_operators = true}); !violations.empty())
      return std::unexpected(detail::all_of(std::move(violations)));
    programs.push_back(*program);
  }
  auto parts = std::make_shared<typename LoweredModule<B>::Parts>();
  auto debug_map = std::make_shared<DebugMap>();
  DebugHandleRecorder recorder(*debug_map);
  const detail::SharedState state(programs);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    ExportedProgram own;
    const ExportedProgram& program = *state.mark(*programs[i], own);
    recorder.begin_method(specs[i].method, program.view());
    Result<typename B::Processed> processed =
        preprocessor_of<B>::preprocess(Method{specs[i].method, &program}, specs[i].spec, recorder);
    if (!processed) {
      Error error = std::move(processed.error());
      error.stage = Stage::preprocess;
      if (error.backend.empty()) error.backend = B::name;
      return std::unexpected(debug_map->explain(std::move(error)));
    }
    parts->methods.push_back(
        {specs[i].method, specs[i].spec, method_interface(program), std::move(*processed), std::nullopt});
    for (const InputPort& port : parts->methods.back().interface.inputs) {
      if (port.role != InputRole::state) continue;
      bool known = false;
      for (const NamedTensor& entry : parts->state) known = known || entry.name == port.target;
      if (!known) parts->state.push_back({port.target, *program.tensor_named(port.target)});
    }
  }
  if (B::is_available()) {
    if (Result<void> compiled = detail::compile_methods<B>(parts->methods); !compiled)
      return std::unexpected(debug_map->explain(std::move(compiled.error())));
  } else if (diagnostics != nullptr) {
    diagnostics->warnings.push_back(concat("backend ", B::name,
                                           " is not available here; the module can still be saved, and runs where it is "
                                           "loaded with the backend available"));
  }
  return LoweredModule<B>(std::move(parts), std::move(debug_map));
}

/// Lowers a program of one method, "forward".
template <class B>
[[nodiscard]] Result<LoweredModule<B>> to_backend(const ExportedProgram& program, const typename B::CompileSpec& spec,
                                                  Diagnostics* diagnostics = nullptr) {
  detail::require_backend<B>();
  const ProgramMethod method{"forward", &program};
  const MethodCompileSpec<B> forward{"forward", spec};
  return to_backend<B>(std::span(&method, 1), std::span(&forward, 1), diagnostics);
}
template <class B>
  requires(!Partitioner<B>)
[[nodiscard]] auto to_backend(const ExportedProgram& program) {
  detail::require_backend<B>();
  return to_backend<B>(program, typename B::CompileSpec{});
}

}  // namespace davit
