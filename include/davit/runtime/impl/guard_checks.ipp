// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "davit/runtime/check_values.hpp"
#include "davit/runtime/guard_checks.hpp"

namespace davit {

GuardChecks::GuardChecks(const MethodInterface& interface) : interface_(&interface) {
  const std::vector<GuardNode>& nodes = interface.guards.nodes;
  if (interface.guards.empty()) return;
  for (std::uint32_t i = 0; i < interface.inputs.size(); ++i)
    if (interface.inputs[i].role == InputRole::user) ports_.push_back(i);
  any_ = true;
  fit_ = guards_fit(interface.guards, detail::guard_inputs(interface.inputs));
  if (!fit_) return;
  values_.resize(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const GuardNode& node = nodes[i];
    if (!is_guard_leaf(node.op)) continue;
    const InputPort& port = interface.inputs[ports_[node.a]];
    if (node.op == GuardOp::storage_offset) {
      values_[i] = PythonNumber::of(std::int64_t{0});
    } else if (node.op == GuardOp::input && port.constant) {
      values_[i] = number_of(constant_value(*port.constant));
    } else if (node.op == GuardOp::size && port.type.dims[node.b].is_static()) {
      values_[i] = PythonNumber::of(port.type.dims[node.b].value);
    } else {
      leaves_.push_back(i);
      asks_sizes_only_ = asks_sizes_only_ && node.op == GuardOp::size;
    }
  }
  if (!leaves_.empty()) return;
  evaluate_guards(nodes, values_);
  any_ = first_violation(interface.guards, values_) != interface.guards.size();
}

PythonNumber GuardChecks::number_of(const EValue& value) noexcept {
  if (value.is_int()) return PythonNumber::of(value.as_int());
  if (value.is_bool()) return PythonNumber::of(value.as_bool());
  return value.is_float() ? PythonNumber::of(value.as_float()) : PythonNumber{};
}

PythonNumber GuardChecks::leaf(const GuardNode& node, std::span<const EValue> inputs) const {
  const EValue& input = inputs[ports_[node.a]];
  if (node.op == GuardOp::input) return number_of(input);
  const TensorView* tensor = input.tensor_if();
  if (tensor == nullptr || node.b >= tensor->rank) return {};
  return PythonNumber::of(node.op == GuardOp::size ? tensor->size(node.b) : tensor->stride(node.b));
}

bool GuardChecks::read(std::span<const EValue> inputs) {
  bool is_new = false;
  for (const std::uint32_t at : leaves_) {
    const PythonNumber value = leaf(interface_->guards.nodes[at], inputs);
    is_new = is_new || !(values_[at] == value);
    values_[at] = value;
  }
  return is_new;
}

Result<void> GuardChecks::check(std::string_view method, std::string_view backend, std::span<const EValue> inputs,
                                bool sizes_changed) {
  if (!any_ || (hold_ && !sizes_changed && asks_sizes_only_)) return {};
  if (!fit_)
    return std::unexpected(Error{.code = ErrorCode::invalid_program,
                                 .stage = Stage::execute,
                                 .backend = Name(backend),
                                 .where = concat("guards of ", method, "()"),
                                 .what = "they ask for a size or number that no user input of the method has",
                                 .fix = "verify the program before it is lowered"});
  if (!read(inputs) && hold_) return {};
  evaluate_guards(interface_->guards.nodes, values_);
  const Guards& guards = interface_->guards;
  const std::size_t guard = first_violation(guards, values_);
  hold_ = guard == guards.size();
  if (hold_) return {};
  GuardViolation broken = describe_violation(guards, guard, guard_names(*interface_), values_);
  return std::unexpected(Error{.code = ErrorCode::invalid_shape,
                               .stage = Stage::execute,
                               .backend = Name(backend),
                               .where = concat("arguments of ", method, "()"),
                               .what = Name(broken.what),
                               .fix = Name(broken.fix)});
}

}  // namespace davit
