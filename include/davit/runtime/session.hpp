// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/lowered_module.hpp"
#include "davit/runtime/method_frame.hpp"
#include "davit/runtime/prepare_delegate.hpp"
#include "davit/runtime/results.hpp"

namespace davit {

/// Runs a lowered module: owns the mutable state and the working memory, shares everything else.
///
/// Outputs of a run are views that hold until the next run of the session. Mutations of buffers and of user inputs are
/// written back at the end of a successful run; a failed run changes nothing. Not for use from several threads at once;
/// sessions of one module are independent of each other.
template <RuntimeBackend B, Tracer T = NullTracer>
class Session {
 public:
  explicit Session(LoweredModule<B> module, T tracer = {})
      : module_(std::move(module)), tracer_(std::move(tracer)), state_(copy_state(module_.state())) {
    for (const LoweredMethod<B>& method : module_.methods()) methods_.emplace_back(method, state_);
  }
  Session(Session&&) = default;
  Session& operator=(Session&&) = default;

  [[nodiscard]] const LoweredModule<B>& module() const noexcept { return module_; }
  [[nodiscard]] T& tracer() noexcept { return tracer_; }
  /// The session's buffers, by name.
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept { return state_; }

  /// Runs method `index` on its user inputs, in order. Answers all outputs, mutations included, in the graph's order.
  ///
  /// Errors: not_available; invalid_argument, invalid_dtype, invalid_shape for inputs that do not fit (before the backend
  /// sees them) and for outputs that do not; what the backend reports, with the model's source line.
  [[nodiscard]] Result<std::span<const EValue>> run(std::size_t index, std::span<const EValue> user_inputs) {
    MethodState& m = methods_[index];
    if (!B::is_available()) [[unlikely]]
      return std::unexpected(detail::not_available<B>(Stage::execute));
    if (m.handle == nullptr) [[unlikely]]
      return std::unexpected(not_compiled(*m.method));
    std::span<const EValue> inputs = user_inputs;
    if (m.frame.gathers()) {
      if (Result<void> gathered = m.frame.gather(user_inputs, state_); !gathered)
        return std::unexpected(std::move(gathered.error()));
      inputs = m.frame.inputs();
    }
    if (!m.frame.inputs_fit(inputs) || !m.ready) [[unlikely]] {
      if (Result<void> prepared = check_and_prepare(m, user_inputs, inputs); !prepared)
        return std::unexpected(std::move(prepared.error()));
    }
    const std::span<EValue> outputs = m.frame.outputs();
    for (EValue& output : outputs) output.clear();
    ExecuteContext<T, TextReport, workspace_of<B>> context(tracer_, report_, m.workspace, m.scratch.span());
    const Status status = B::execute(*m.handle, inputs, outputs, context);
    if (!status) [[unlikely]]
      return std::unexpected(explain_fault(status.error()));
    if (!m.frame.outputs_fit()) [[unlikely]]
      if (Result<void> checked = m.frame.check_outputs(); !checked) return std::unexpected(std::move(checked.error()));
    if (m.frame.writes_back()) {
      if (Result<void> written = m.frame.write_back(inputs, state_); !written) return std::unexpected(std::move(written.error()));
    }
    return std::span<const EValue>(outputs);
  }

  /// Runs the method of that name. Inputs may also be given by name; inputs that the export fixed may be left out.
  [[nodiscard]] Result<std::span<const EValue>> run(std::string_view name, std::span<const EValue> args,
                                                    std::span<const NamedValue> kwargs = {}) {
    const Result<std::size_t> index = module_.find_method(name);
    if (!index) return std::unexpected(index.error());
    if (kwargs.empty()) return run(*index, args);
    Result<std::vector<EValue>> all = methods_[*index].frame.arrange(args, kwargs);
    if (!all) return std::unexpected(std::move(all.error()));
    return run(*index, *all);
  }

  /// Runs a method and converts its user outputs: a TensorView, int64_t, double, bool, string_view, std::optional of one, or
  /// a std::tuple of those (one element too). Errors as run(), and invalid_argument if the outputs are not of that type.
  template <class R, class... Args>
  [[nodiscard]] Result<R> call(std::string_view name, const Args&... args) {
    const EValue values[sizeof...(Args) + 1] = {EValue(args)...};
    const Result<std::size_t> index = module_.find_method(name);
    if (!index) return std::unexpected(index.error());
    Result<std::span<const EValue>> outputs = run(*index, std::span<const EValue>(values, sizeof...(Args)));
    if (!outputs) return std::unexpected(std::move(outputs.error()));
    return convert_outputs<R>(module_.methods()[*index].interface, *outputs);
  }

 private:
  struct MethodState {
    MethodState(const LoweredMethod<B>& lowered, std::span<NamedTensor> state)
        : method(&lowered), handle(lowered.handle ? &*lowered.handle : nullptr), frame(lowered.name, B::name, lowered.interface, state) {}
    const LoweredMethod<B>* method;    ///< of the module, which the session shares
    const typename B::Handle* handle;  ///< nullptr if the method was not compiled
    bool ready = false;
    MethodFrame frame;
    workspace_of<B> workspace{};
    Scratch scratch;
  };

  /// The slow path: says what does not fit, follows dynamic sizes, and sizes the working memory when they changed.
  [[nodiscard]] Result<void> check_and_prepare(MethodState& m, std::span<const EValue> user, std::span<const EValue> inputs) {
    const Result<bool> changed = m.frame.check_inputs(user, inputs);
    if (!changed) return std::unexpected(changed.error());
    if (m.ready && !*changed) return {};
    m.ready = false;
    for (EValue& output : m.frame.outputs()) output.clear();  // no destinations
    if (Result<void> prepared = prepare_delegate<B>(*m.handle, inputs, m.frame.outputs(), m.workspace, m.scratch); !prepared) {
      if (prepared.error().where.empty()) prepared.error().where = concat("method '", m.method->name, "'");
      return prepared;
    }
    m.ready = true;
    return {};
  }

  [[nodiscard]] static Error not_compiled(const LoweredMethod<B>& method) {
    return Error{.code = ErrorCode::not_available, .stage = Stage::execute, .backend = B::name,
                 .what = concat("method '", method.name, "' was lowered while backend ", B::name, " was not available, and so is not compiled"),
                 .fix = "save the module and load it where the backend is available"};
  }
  [[nodiscard]] Error explain_fault(Fault fault) {
    return module_.debug_map().explain(Error{.code = fault.code(), .stage = Stage::execute, .debug_handle = fault.debug_handle(),
                                             .backend = B::name, .what = std::exchange(report_.text, {})});
  }

  LoweredModule<B> module_;
  T tracer_;
  TextReport report_;
  std::vector<NamedTensor> state_;
  std::vector<MethodState> methods_;
};

}  // namespace davit
