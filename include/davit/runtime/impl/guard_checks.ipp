// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "davit/runtime/guard_checks.hpp"

namespace davit {

DAVIT_INLINE GuardChecks::GuardChecks(const MethodInterface& interface) : interface_(&interface) {
  const std::vector<GuardNode>& nodes = interface.guards.nodes;
  if (interface.guards.empty()) return;
  for (std::uint32_t i = 0; i < interface.inputs.size(); ++i)
    if (interface.inputs[i].role == InputRole::user) ports_.push_back(i);
  values_.resize(nodes.size());
  bool are_fixed = true;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const GuardNode& node = nodes[i];
    if (!is_guard_leaf(node.op)) continue;
    leaves_.push_back(i);
    asks_sizes_only_ = asks_sizes_only_ && node.op == GuardOp::size;
    const std::vector<Dim>& dims = interface.inputs[ports_[node.a]].type.dims;
    if (node.op == GuardOp::size && dims[node.b].is_static()) values_[i] = GuardNumber::of(dims[node.b].value);
    else are_fixed = false;
  }
  any_ = true;
  if (!are_fixed) return;
  evaluate_guards(nodes, values_);
  any_ = first_broken(interface.guards, values_) != interface.guards.size();
}

DAVIT_INLINE GuardNumber GuardChecks::leaf(const GuardNode& node, std::span<const EValue> inputs) const {
  const EValue& input = inputs[ports_[node.a]];
  if (node.op == GuardOp::input) {
    if (input.is_int()) return GuardNumber::of(input.as_int());
    if (input.tag() == EValue::Tag::bool_) return GuardNumber::of(input.as_bool());
    if (input.tag() == EValue::Tag::float_) return GuardNumber::of(input.number());
    return {};
  }
  const TensorView* tensor = input.tensor_if();
  if (tensor == nullptr) return {};
  if (node.op == GuardOp::storage_offset) return GuardNumber::of(std::int64_t{0});
  if (node.b >= tensor->rank) return {};
  return GuardNumber::of(node.op == GuardOp::size ? tensor->size(node.b) : tensor->stride(node.b));
}

DAVIT_INLINE bool GuardChecks::read(std::span<const EValue> inputs) {
  bool is_new = false;
  for (const std::uint32_t at : leaves_) {
    const GuardNumber value = leaf(interface_->guards.nodes[at], inputs);
    is_new = is_new || !(values_[at] == value);
    values_[at] = value;
  }
  return is_new;
}

DAVIT_INLINE Result<void> GuardChecks::check(std::string_view method, std::string_view backend, std::span<const EValue> inputs, bool sizes_changed) {
  if (!any_ || (hold_ && !sizes_changed && asks_sizes_only_)) return {};
  if (!read(inputs) && hold_) return {};
  evaluate_guards(interface_->guards.nodes, values_);
  const Guards& guards = interface_->guards;
  const std::size_t guard = first_broken(guards, values_);
  hold_ = guard == guards.size();
  if (hold_) return {};
  BrokenGuard broken = describe_broken(guards, guard, guard_names(*interface_), values_);
  return std::unexpected(Error{.code = ErrorCode::invalid_shape, .stage = Stage::execute, .backend = Name(backend),
                               .where = concat("arguments of ", method, "()"), .what = Name(broken.what), .fix = Name(broken.fix)});
}

}  // namespace davit
