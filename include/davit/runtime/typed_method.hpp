// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "davit/backend/check_backend.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/scratch.hpp"
#include "davit/core/static_tensor.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/runtime/prepare_delegate.hpp"

namespace davit {

namespace detail {

/// Returns the only partition of a method that takes and returns tensors only. It must run on the backend of `table`,
/// and its types must match `inputs` and `outputs` (tensors without data). Errors: as TypedMethod::bind.
[[nodiscard]] Result<const LoweredDelegate*> typed_delegate(const LoweredProgram& program, std::string_view name,
                                                            const BackendTable& table, std::span<const EValue> inputs,
                                                            std::span<const EValue> outputs);

template <class Signature>
inline constexpr bool is_no_signature = false;

template <class Argument, class Port>
consteval void check_typed_argument() {
  constexpr bool is_static_tensor = requires { Argument::sizes.size() + Argument::numel; };
  static_assert(is_static_tensor, "davit: an argument of a typed method is no davit::StaticTensor");
  if constexpr (is_static_tensor) {
    static_assert(Argument::dtype == Port::dtype,
                  "davit: an argument of a typed method has another element type than its signature says");
    static_assert(Argument::dtype != Port::dtype || std::ranges::equal(Argument::sizes, Port::sizes),
                  "davit: an argument of a typed method has other sizes than its signature says");
    static_assert(Argument::dtype != Port::dtype || !std::ranges::equal(Argument::sizes, Port::sizes) ||
                      std::is_convertible_v<Argument, Port>,
                  "davit: an argument of a typed method is not of the type that its signature says");
  }
}

/// Explains a call of a typed method whose argument types differ from `Ports`.
template <class Ports, class... Args>
consteval void check_typed_arguments() {
  constexpr bool count_fits = std::tuple_size_v<Ports> == sizeof...(Args);
  static_assert(count_fits,
                "davit: a typed method takes its inputs and then its outputs, one davit::StaticTensor each");
  if constexpr (count_fits)
    []<std::size_t... I>(std::index_sequence<I...>) {
      (check_typed_argument<Args, std::tuple_element_t<I, Ports>>(), ...);
    }(std::index_sequence_for<Args...>{});
}

}  // namespace detail

/// A lowered method with dtypes and sizes fixed at compile time: `TypedMethod<B, std::tuple<Outs...>(Ins...)>` with
/// StaticTensor types.
///
/// `bind` makes all checks once; a call only passes pointers. The method must have neither state nor mutations. A call
/// writes the outputs into the caller's tensors. These must overlap neither each other nor the inputs; calls do not
/// check that.
template <class B, class Signature>
class TypedMethod {
  static_assert(detail::is_no_signature<Signature>,
                "davit: the signature of a typed method is std::tuple<Outs...>(Ins...), of davit::StaticTensor types");
};

template <class B, class... Outs, class... Ins>
class TypedMethod<B, std::tuple<Outs...>(Ins...)> {
  static_assert(check_runtime_backend<B>());

 public:
  /// Binds method `name` of `program`. Errors: not_available, not_found; invalid_argument, invalid_dtype, invalid_shape
  /// if the method is not of this type.
  [[nodiscard]] static Result<TypedMethod> bind(LoweredProgram program, std::string_view name) {
    const EValue inputs[sizeof...(Ins) + 1] = {EValue(Ins{}.view())...};
    const EValue outputs[sizeof...(Outs) + 1] = {EValue(Outs{}.view())...};
    const std::span<const EValue> in(inputs, sizeof...(Ins));
    const std::span<const EValue> out(outputs, sizeof...(Outs));
    Result<const LoweredDelegate*> delegate = detail::typed_delegate(program, name, backend_table<B>, in, out);
    if (!delegate) return error_of(std::move(delegate));
    TypedMethod typed(std::move(program), handle_of<B>(**delegate));
    if (Result<void> prepared =
            prepare_delegate(backend_table<B>, typed.handle_, in, out, typed.workspace_.get(), typed.scratch_);
        !prepared) {
      if (prepared.error().where.empty()) prepared.error().where = concat("method '", name, "'");
      return error_of(std::move(prepared));
    }
    return typed;
  }

  /// Runs the method on `ins` and writes `outs`. Faults are those of the backend. Other argument types do not compile.
  [[nodiscard]] Status operator()(Ins... ins, Outs... outs) {
    const EValue inputs[sizeof...(Ins) + 1] = {EValue(ins.view())...};
    EValue outputs[sizeof...(Outs) + 1] = {EValue(outs.view())...};
    NullTracer tracer;
    NoReport report;
    ExecuteContext<NullTracer, NoReport, workspace_of<B>> context(tracer, report, *workspace_, scratch_.span());
    const Status status =
        B::execute(*handle_, std::span(inputs, sizeof...(Ins)), std::span(outputs, sizeof...(Outs)), context);
    if (!status) return status;
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> Status {
      bool good = true;
      ((good = good && deliver(outputs[I], outs)), ...);
      if (!good) return std::unexpected(Fault(ErrorCode::invalid_shape));
      return {};
    }(std::index_sequence_for<Outs...>{});
  }

  template <class... Args>
  Status operator()(const Args&...) {
    detail::check_typed_arguments<std::tuple<Ins..., Outs...>, Args...>();
    return std::unexpected(Fault(ErrorCode::invalid_argument));
  }

 private:
  TypedMethod(LoweredProgram program, const typename B::Handle& handle)
      : program_(std::move(program)), handle_(&handle) {}

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
  std::unique_ptr<workspace_of<B>> workspace_ = std::make_unique<workspace_of<B>>();  // its address must not change
  Scratch scratch_;
};

}  // namespace davit
