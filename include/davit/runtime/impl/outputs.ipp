// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/contiguous.hpp"
#include "davit/runtime/outputs.hpp"

namespace davit {

Result<void> Output::check_tensor() const {
  if (lack_ != nullptr) return std::unexpected(lack_(*interface_, name_, index_));
  if (value_->is_tensor()) return {};
  return std::unexpected(
      Error{.code = ErrorCode::invalid_argument,
            .stage = Stage::execute,
            .what = concat("output '", name_, "' is of type '", name_of(value_->tag()), "', not a tensor"),
            .fix = "read it through value()"});
}

Result<void> Output::check(ScalarType dtype) const {
  if (Result<void> checked = check_tensor(); !checked) return checked;
  return detail::check_elements(value_->tensor(), dtype, concat("output '", name_, "'"));
}

Result<Tensor> Output::clone() const {
  if (Result<void> checked = check_tensor(); !checked) return error_of(std::move(checked));
  const TensorView& from = value_->tensor();
  Tensor copy = contiguous(from);
  if (copy.storage.size() != from.nbytes())
    return std::unexpected(Error{.code = ErrorCode::out_of_memory,
                                 .stage = Stage::execute,
                                 .what = concat("no memory for a copy of output '", name_, "'")});
  return copy;
}

namespace detail {

[[nodiscard]] bool is_listed(const OutputPort& port, bool mutations) noexcept {
  if (!mutations) return port.is_returned();
  const OutputKind kind = port.kind;
  return kind == OutputKind::buffer_mutation || kind == OutputKind::parameter_mutation ||
         kind == OutputKind::user_input_mutation;
}

[[nodiscard]] std::string_view output_name(const OutputPort& port, bool mutations) noexcept {
  return mutations ? port.target.view() : port.user_name().view();
}

[[nodiscard]] Error no_output(const MethodInterface& interface, std::string_view name, std::size_t index,
                              bool mutations) {
  Name names;
  for (const OutputPort& port : interface.outputs)
    if (is_listed(port, mutations))
      names = concat(names, names.empty() ? "" : ", ", "'", output_name(port, mutations), "'");
  const std::string_view noun = mutations ? "mutation" : "output";
  return Error{.code = ErrorCode::not_found,
               .stage = Stage::execute,
               .what = name.data() != nullptr ? concat("there is no ", noun, " '", name, "'")
                                              : concat("there is no ", noun, " ", index),
               .fix = names.empty() ? concat("the method has no ", noun, "s") : concat("the ", noun, "s are ", names)};
}
[[nodiscard]] Error no_user_output(const MethodInterface& interface, std::string_view name, std::size_t index) {
  return no_output(interface, name, index, false);
}
[[nodiscard]] Error no_mutation(const MethodInterface& interface, std::string_view name, std::size_t index) {
  return no_output(interface, name, index, true);
}

std::size_t count_outputs(const MethodInterface& interface, bool mutations) noexcept {
  std::size_t count = 0;
  for (const OutputPort& port : interface.outputs) count += is_listed(port, mutations) ? 1 : 0;
  return count;
}

std::size_t next_output(const MethodInterface& interface, bool mutations, std::size_t port) noexcept {
  while (port < interface.outputs.size() && !is_listed(interface.outputs[port], mutations)) ++port;
  return port;
}
Output output_at(const EValue* values, const MethodInterface& interface, bool mutations, std::size_t port) noexcept {
  return {values[port], output_name(interface.outputs[port], mutations)};
}

Output find_output(const EValue* values, const MethodInterface& interface, bool mutations, std::size_t index) noexcept {
  std::size_t left = index;
  for (std::size_t i = 0; i < interface.outputs.size(); ++i) {
    const OutputPort& port = interface.outputs[i];
    if (is_listed(port, mutations) && left-- == 0) return {values[i], output_name(port, mutations)};
  }
  return {mutations ? &no_mutation : &no_user_output, interface, {}, index};
}

Output find_output(const EValue* values, const MethodInterface& interface, bool mutations,
                   std::string_view name) noexcept {
  for (std::size_t i = 0; i < interface.outputs.size(); ++i) {
    const OutputPort& port = interface.outputs[i];
    if (is_listed(port, mutations) && output_name(port, mutations) == name)
      return {values[i], output_name(port, mutations)};
  }
  return {mutations ? &no_mutation : &no_user_output, interface, name, 0};
}

}  // namespace detail

}  // namespace davit
