// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "davit/core/copy_tensor.hpp"
#include "davit/core/static_tensor.hpp"
#include "davit/lowering/lowered_module.hpp"
#include "davit/runtime/check_values.hpp"
#include "davit/runtime/prepare_delegate.hpp"

namespace davit {

/// A lowered method whose tensors have dtypes and sizes known when compiling: `TypedMethod<B, std::tuple<Outs...>(Ins...)>`
/// with StaticTensor types. All checks are made once, by `bind`; a call only passes pointers.
///
/// For methods without state and without mutations. A call writes the outputs into the caller's tensors.
template <RuntimeBackend B, class Signature>
class TypedMethod;

template <RuntimeBackend B, class... Outs, class... Ins>
class TypedMethod<B, std::tuple<Outs...>(Ins...)> {
 public:
  /// Errors: not_available, not_found; invalid_argument, invalid_dtype, invalid_shape if the method is not of this type.
  [[nodiscard]] static Result<TypedMethod> bind(LoweredModule<B> module, std::string_view name) {
    const Result<std::size_t> index = module.find_method(name);
    if (!index) return std::unexpected(index.error());
    const LoweredMethod<B>& method = module.methods()[*index];
    if (!B::is_available() || !method.handle) return std::unexpected(detail::not_available<B>(Stage::execute));
    const EValue inputs[sizeof...(Ins) + 1] = {EValue(Ins{}.view())...};
    const EValue outputs[sizeof...(Outs) + 1] = {EValue(Outs{}.view())...};
    SymbolValues symbols(method.interface.exprs);
    if (Result<void> bound = fits(method, inputs, outputs, symbols); !bound) return std::unexpected(std::move(bound.error()));
    TypedMethod typed(std::move(module), *index);
    if (Result<void> prepared = prepare_delegate<B>(*typed.handle_, std::span(inputs, sizeof...(Ins)),
                                                    std::span(outputs, sizeof...(Outs)), typed.workspace_, typed.scratch_);
        !prepared) {
      if (prepared.error().where.empty()) prepared.error().where = concat("method '", name, "'");
      return std::unexpected(std::move(prepared.error()));
    }
    return typed;
  }

  /// Runs the method on `ins` and writes to `outs`. Faults are the backend's.
  [[nodiscard]] Status operator()(Ins... ins, Outs... outs) {
    const EValue inputs[sizeof...(Ins) + 1] = {EValue(ins.view())...};
    EValue outputs[sizeof...(Outs) + 1] = {EValue(outs.view())...};
    NullTracer tracer;
    NoReport report;
    ExecuteContext<NullTracer, NoReport, workspace_of<B>> context(tracer, report, workspace_, scratch_.span());
    const Status status = B::execute(*handle_, std::span(inputs, sizeof...(Ins)), std::span(outputs, sizeof...(Outs)), context);
    if (!status) return status;
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> Status {
      bool good = true;
      ((good = good && deliver(outputs[I], outs)), ...);
      if (!good) return std::unexpected(Fault(ErrorCode::invalid_shape));
      return {};
    }(std::index_sequence_for<Outs...>{});
  }

 private:
  TypedMethod(LoweredModule<B> module, std::size_t index) : module_(std::move(module)), handle_(&*module_.methods()[index].handle) {}

  [[nodiscard]] static Result<void> fits(const LoweredMethod<B>& method, const EValue* inputs, const EValue* outputs,
                                         SymbolValues& symbols) {
    const MethodInterface& interface = method.interface;
    for (const InputPort& port : interface.inputs)
      if (port.role != InputRole::user || port.constant) return std::unexpected(not_typed(method, port.name));
    for (const OutputPort& port : interface.outputs)
      if (port.kind != OutputKind::user_output && port.kind != OutputKind::loss_output)
        return std::unexpected(not_typed(method, port.name));
    const std::span<const EValue> in(inputs, sizeof...(Ins));
    if (Result<void> r = check_values(method.name, B::name, "argument", interface.inputs, in, symbols); !r) return r;
    if (Result<void> r = bind_symbols(method.name, B::name, interface, in, symbols); !r) return r;
    if (Result<void> r = check_values(method.name, B::name, "argument", interface.inputs, in, symbols); !r) return r;
    return check_values(method.name, B::name, "output", interface.outputs, {outputs, sizeof...(Outs)}, symbols);
  }
  [[nodiscard]] static Error not_typed(const LoweredMethod<B>& method, std::string_view port) {
    return Error{.code = ErrorCode::invalid_argument, .stage = Stage::execute, .backend = B::name,
                 .where = concat("'", port, "' of ", method.name, "()"),
                 .what = "a typed method takes and returns tensors only, and keeps no state",
                 .fix = "run this method through a Session"};
  }
  template <class Out>
  [[nodiscard]] static bool deliver(const EValue& from, const Out& to) {
    const TensorView* tensor = from.tensor_if();
    if (tensor == nullptr) return false;
    if (tensor->data == to.data) return true;
    if (tensor->dtype != Out::dtype || !std::ranges::equal(tensor->sizes(), Out::sizes)) return false;
    copy_tensor(*tensor, to.view());
    return true;
  }

  LoweredModule<B> module_;
  const typename B::Handle* handle_;
  [[no_unique_address]] workspace_of<B> workspace_{};
  Scratch scratch_;
};

}  // namespace davit
