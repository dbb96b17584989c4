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
#include "davit/lowering/lowered_program.hpp"
#include "davit/runtime/prepare_delegate.hpp"
#include "davit/runtime/scratch.hpp"

namespace davit {

namespace detail {

/// The one partition of a method of tensors only, if it runs on the backend of `table` and takes and returns what `inputs`
/// and `outputs` (without data) say. Errors: as TypedMethod::bind.
[[nodiscard]] Result<const LoweredDelegate*> typed_delegate(const LoweredProgram& program, std::string_view name, const BackendTable& table,
                                                            std::span<const EValue> inputs, std::span<const EValue> outputs);

}  // namespace detail

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
  [[nodiscard]] static Result<TypedMethod> bind(LoweredProgram program, std::string_view name) {
    const EValue inputs[sizeof...(Ins) + 1] = {EValue(Ins{}.view())...};
    const EValue outputs[sizeof...(Outs) + 1] = {EValue(Outs{}.view())...};
    const std::span<const EValue> in(inputs, sizeof...(Ins));
    const std::span<const EValue> out(outputs, sizeof...(Outs));
    Result<const LoweredDelegate*> delegate = detail::typed_delegate(program, name, backend_table<B>, in, out);
    if (!delegate) return std::unexpected(std::move(delegate.error()));
    TypedMethod typed(std::move(program), handle_of<B>(**delegate));
    if (Result<void> prepared = prepare_delegate(backend_table<B>, typed.handle_, in, out, &typed.workspace_, typed.scratch_); !prepared) {
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
  TypedMethod(LoweredProgram program, const typename B::Handle& handle) : program_(std::move(program)), handle_(&handle) {}

  template <class Out>
  [[nodiscard]] static bool deliver(const EValue& from, const Out& to) {
    const TensorView* tensor = from.tensor_if();
    if (tensor == nullptr) return false;
    if (tensor->data == to.data) return true;
    if (tensor->dtype != Out::dtype || !std::ranges::equal(tensor->sizes(), Out::sizes)) return false;
    copy_tensor(*tensor, to.view());
    return true;
  }

  LoweredProgram program_;
  const typename B::Handle* handle_;
  [[no_unique_address]] workspace_of<B> workspace_{};
  Scratch scratch_;
};

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/runtime/impl/typed_method.ipp"
#endif
