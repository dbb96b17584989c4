// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "davit/program/size_text.hpp"
#include "davit/runtime/check_values.hpp"

namespace davit {

namespace detail {

[[nodiscard]] Name sizes_text(std::span<const std::int64_t> sizes) {
  Name out;
  for (const std::int64_t size : sizes) out = concat(out, out.empty() ? "" : ", ", size);
  return concat("[", out, "]");
}
[[nodiscard]] const Name& port_name(const InputPort& port) noexcept { return port.name; }
[[nodiscard]] const Name& port_name(const OutputPort& port) noexcept { return port.name; }
[[nodiscard]] bool accepts_any(const InputPort& port) noexcept { return port.constant.has_value(); }
[[nodiscard]] bool accepts_any(const OutputPort& port) noexcept { return port.kind == OutputKind::token; }

/// The inputs of a call, or the outputs of a backend.
template <class Port>
struct Ports {
  std::string_view method;
  std::string_view backend;
  const MethodInterface& interface;
  const std::vector<Port>& ports;
  static constexpr bool are_inputs = std::is_same_v<Port, InputPort>;
  static constexpr std::string_view role = are_inputs ? "argument" : "output";

  [[nodiscard]] std::unexpected<Error> wrong(ErrorCode code, const Port& port, const Name& what,
                                             const Name& fix) const {
    return std::unexpected(Error{.code = code,
                                 .stage = Stage::execute,
                                 .backend = Name(backend),
                                 .where = concat(role, " '", port_name(port), "' of ", method, "()"),
                                 .what = what,
                                 .fix = fix});
  }
  /// Describes the type of a port; if arguments may be swapped, also the whole signature.
  [[nodiscard]] Name expected(const Port& port, bool may_be_swapped) const {
    const Name type = type_text(interface, port.type);
    if (!are_inputs) return concat("the backend must return ", type);
    const auto is_user = [](const InputPort& each) { return each.role == InputRole::user; };
    if (!may_be_swapped || std::ranges::count_if(interface.inputs, is_user) < 2) return concat("pass ", type);
    return concat("pass ", type, "; call it as ", signature_text(method, interface));
  }
  [[nodiscard]] Result<void> check(std::span<const EValue> values, const SymbolValues& symbols) const {
    if (values.size() != ports.size())
      return std::unexpected(
          Error{.code = ErrorCode::invalid_argument,
                .stage = Stage::execute,
                .backend = Name(backend),
                .what = concat(method, "() has ", ports.size(), " ", role, "s, not ", values.size()),
                .fix = are_inputs ? concat("call it as ", signature_text(method, interface)) : Name()});
    for (std::size_t i = 0; i < ports.size(); ++i)
      if (Result<void> checked = check(ports[i], values[i], symbols); !checked) return checked;
    return {};
  }
  [[nodiscard]] Result<void> check(const Port& port, const EValue& value, const SymbolValues& symbols) const {
    if (accepts_any(port)) return {};
    if (value.tag() != port.type.tag)
      return wrong(ErrorCode::invalid_argument, port,
                   concat("Expected a value of type '", name_of(port.type.tag), "' for ", role, " '", port_name(port),
                          "' but instead found type '", name_of(value.tag()), "'"),
                   expected(port, true));
    const TensorView* tensor = value.tensor_if();
    if (tensor == nullptr) return {};
    if (tensor->dtype != port.type.dtype)
      return wrong(ErrorCode::invalid_dtype, port,
                   concat("its dtype is ", name_of(tensor->dtype), ", not ", name_of(port.type.dtype)),
                   expected(port, true));
    if (tensor->rank != port.type.dims.size())
      return wrong(ErrorCode::invalid_shape, port,
                   concat("its rank is ", tensor->rank, ", not ", port.type.dims.size()), expected(port, true));
    if (checked_numel(tensor->sizes()) < 0)
      return wrong(ErrorCode::invalid_shape, port,
                   concat("its sizes are ", sizes_text(tensor->sizes()), ": no tensor is so large"),
                   expected(port, false));
    for (std::size_t d = 0; d < port.type.dims.size(); ++d) {
      const std::optional<std::int64_t> size = symbols.value(port.type.dims[d]);
      if (!size || *size == tensor->size(d)) continue;
      const Name sizes = sizes_text(tensor->sizes());
      if (!are_inputs || !port.type.dims[d].is_static())
        return wrong(ErrorCode::invalid_shape, port,
                     concat("its sizes are ", sizes, ", but size ", d, " must be ", *size), expected(port, false));
      return wrong(ErrorCode::invalid_shape, port,
                   concat("its sizes are ", sizes, ": size ", d, " is ", tensor->size(d),
                          ", and the program was exported for ", *size, " there"),
                   concat(expected(port, true), "; for other sizes, export it with dimension ", d, " dynamic"));
    }
    return {};
  }
};

}  // namespace detail

Result<void> check_input_values(std::string_view method, std::string_view backend, const MethodInterface& interface,
                                std::span<const EValue> values, const SymbolValues& symbols) {
  return detail::Ports<InputPort>{method, backend, interface, interface.inputs}.check(values, symbols);
}
Result<void> check_output_values(std::string_view method, std::string_view backend, const MethodInterface& interface,
                                 std::span<const EValue> values, const SymbolValues& symbols) {
  return detail::Ports<OutputPort>{method, backend, interface, interface.outputs}.check(values, symbols);
}

bool have_memory(std::span<const EValue> values) noexcept {
  return std::ranges::all_of(values, [](const EValue& value) {
    const TensorView* const tensor = value.tensor_if();
    return tensor == nullptr || tensor->data != nullptr || tensor->numel() == 0;
  });
}
Error detail::without_memory(Name where) {
  return Error{.code = ErrorCode::failed,
               .stage = Stage::execute,
               .where = std::move(where),
               .what = "a backend returned a tensor without memory: its data is null",
               .fix = "let its execute fill the output, or return a view"};
}

Result<void> bind_symbols(std::string_view method, std::string_view backend, const MethodInterface& interface,
                          std::span<const EValue> inputs, SymbolValues& symbols) {
  symbols.reset();
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const PortType& type = interface.inputs[i].type;
      if (inputs[i].is_int() && type.expr != no_id && (pass == 1 || interface.exprs[type.expr].op == ExprOp::symbol) &&
          !symbols.bind(type.expr, inputs[i].as_int()))
        return std::unexpected(
            Error{.code = ErrorCode::invalid_argument,
                  .stage = Stage::execute,
                  .backend = Name(backend),
                  .where = concat("argument '", interface.inputs[i].name, "' of ", method, "()"),
                  .what = concat("it is ", inputs[i].as_int(), ", which contradicts the sizes of other arguments"),
                  .fix = "sizes that were exported as one symbol must be equal"});
      const TensorView* tensor = inputs[i].tensor_if();
      if (tensor == nullptr) continue;
      const std::vector<Dim>& dims = interface.inputs[i].type.dims;
      for (std::size_t d = 0; d < dims.size() && d < tensor->rank; ++d) {
        if (dims[d].is_static() || (pass == 0 && interface.exprs[dims[d].expr].op != ExprOp::symbol)) continue;
        if (!symbols.bind(dims[d].expr, tensor->size(d)))
          return std::unexpected(Error{.code = ErrorCode::invalid_shape,
                                       .stage = Stage::execute,
                                       .backend = Name(backend),
                                       .where = concat("argument '", interface.inputs[i].name, "' of ", method, "()"),
                                       .what = concat("its sizes are ", detail::sizes_text(tensor->sizes()),
                                                      ", but size ", d, " contradicts the sizes of other arguments"),
                                       .fix = "sizes that were exported as one symbol must be equal"});
      }
    }
    symbols.settle();
  }
  for (const MethodInterface::SymbolRange& range : interface.ranges) {
    const std::optional<std::int64_t> value = symbols.value(range.symbol);
    if (!value || (*value >= range.min && *value <= range.max)) continue;
    Error error{.code = ErrorCode::invalid_shape,
                .stage = Stage::execute,
                .backend = Name(backend),
                .where = concat("arguments of ", method, "()"),
                .what = concat("a dynamic size is ", *value, ", outside the range the program was exported for"),
                .fix = concat("keep ", range_text(size_text(interface, {.expr = range.symbol}), range.min, range.max))};
    for (const InputPort& port : interface.inputs)
      for (std::size_t d = 0; d < port.type.dims.size(); ++d) {
        if (port.type.dims[d].is_static() || port.type.dims[d].expr != range.symbol) continue;
        error.where = concat("argument '", port.name, "' of ", method, "()");
        error.what = concat("its size ", d, " is ", *value, ", outside the range the program was exported for");
        return std::unexpected(std::move(error));
      }
    return std::unexpected(std::move(error));
  }
  return {};
}

EValue constant_value(const ConstantValue& constant) noexcept {
  if (const auto* i = std::get_if<std::int64_t>(&constant)) return *i;
  if (const auto* d = std::get_if<double>(&constant)) return *d;
  if (const auto* b = std::get_if<bool>(&constant)) return *b;
  if (const auto* s = std::get_if<Name>(&constant)) return s->view();
  return {};
}
bool same_constant(const EValue& value, const ConstantValue& constant) noexcept {
  const EValue fixed = constant_value(constant);
  if (value.is_number() && fixed.is_number()) return value.number() == fixed.number();
  if (value.tag() != fixed.tag()) return false;
  return !value.is_string() || value.as_string() == fixed.as_string();
}

}  // namespace davit
