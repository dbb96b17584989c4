// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/program/operators/node_arguments.hpp"

namespace davit::xnnpack_parts {

/// The largest rank of a tensor in the backend: XNNPACK's own limit.
inline constexpr std::size_t max_dims = 6;

/// A node's arguments by the names of its schema.
class Call {
 public:
  constexpr Call(GraphModuleView graph, NodeId id) noexcept : g_(graph), node_(&graph.nodes[id]), id_(id) {}

  [[nodiscard]] constexpr GraphModuleView graph() const noexcept { return g_; }
  [[nodiscard]] constexpr NodeId id() const noexcept { return id_; }
  [[nodiscard]] constexpr std::string_view target() const noexcept { return g_.target(*node_); }
  /// The arguments for operators::read_...
  [[nodiscard]] constexpr operators::NodeArguments arguments() const noexcept { return {g_, id_}; }
  /// Returns nullptr if the argument is omitted, or None.
  [[nodiscard]] constexpr const Argument* arg(std::string_view name) const noexcept {
    const Argument* a = g_.find_input(*node_, name);
    return a == nullptr || a->kind == ArgumentKind::none ? nullptr : a;
  }
  [[nodiscard]] constexpr bool has(std::string_view name) const noexcept { return arg(name) != nullptr; }
  /// Returns the value of the argument; no_id if it is a literal, or omitted.
  [[nodiscard]] constexpr ValueId value(std::string_view name) const noexcept {
    const Argument* a = arg(name);
    return a != nullptr && a->is_value() ? a->value() : no_id;
  }
  [[nodiscard]] constexpr std::span<const Argument> list(std::string_view name) const noexcept {
    const Argument* a = arg(name);
    return a != nullptr && a->is_list() ? g_.args(a->items) : std::span<const Argument>{};
  }

  /// Returns the value of output `i` (list items count one by one); no_id if there is none.
  [[nodiscard]] constexpr ValueId output(std::size_t i = 0) const noexcept {
    ValueId found = no_id;
    for (const Argument& a : g_.outputs(*node_))
      g_.for_each_value(a, [&](ValueId v) {
        if (i-- == 0) found = v;
      });
    return found;
  }
  [[nodiscard]] constexpr std::size_t outputs() const noexcept {
    std::size_t count = 0;
    for (const Argument& a : g_.outputs(*node_)) g_.for_each_value(a, [&](ValueId) { ++count; });
    return count;
  }

  [[nodiscard]] constexpr std::span<const Dim> dims(ValueId v) const noexcept { return g_.dims_of(g_.values[v].sizes); }
  [[nodiscard]] constexpr std::size_t rank(ValueId v) const noexcept { return g_.values[v].sizes.count; }
  [[nodiscard]] constexpr ScalarType dtype(ValueId v) const noexcept { return g_.values[v].dtype; }
  [[nodiscard]] constexpr bool is_tensor(ValueId v) const noexcept {
    return v != no_id && g_.values[v].kind == ValueKind::tensor;
  }
  /// The size of dimension `d`, or -1 if it is symbolic.
  [[nodiscard]] constexpr std::int64_t fixed(ValueId v, std::size_t d) const noexcept {
    const Dim& dim = dims(v)[d];
    return dim.is_static() ? dim.value : -1;
  }
  [[nodiscard]] constexpr bool all_fixed(ValueId v) const noexcept {
    for (const Dim& d : dims(v))
      if (!d.is_static()) return false;
    return true;
  }

 private:
  GraphModuleView g_;
  const Node* node_;
  NodeId id_;
};

/// Returns the reason why the backend cannot hold this value as a tensor of that dtype, or nullptr.
[[nodiscard]] constexpr const char* refuses_tensor(const Call& call, ValueId v,
                                                   ScalarType dtype = ScalarType::float32) noexcept {
  if (!call.is_tensor(v)) return "an operand is not a tensor";
  const Value& value = call.graph().values[v];
  if (value.dtype != dtype) return dtype == ScalarType::float32 ? "not float32" : "not of the dtype that it is used in";
  if (value.layout != Layout::strided) return "not a dense tensor";
  if (value.sizes.count > max_dims) return "more than 6 dimensions";
  for (const Dim& d : call.dims(v))
    if (d.is_static() && (d.value <= 0 || d.value > 1 << 24))
      return "an empty tensor, or a dimension beyond 2^24";  // XNNPACK allocates buffers per channel
  return nullptr;
}

[[nodiscard]] constexpr bool same_dim(const Dim& a, const Dim& b) noexcept {
  return a.is_static() || b.is_static() ? a.is_static() && b.is_static() && a.value == b.value : a.expr == b.expr;
}
[[nodiscard]] constexpr bool same_dims(std::span<const Dim> a, std::span<const Dim> b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!same_dim(a[d], b[d])) return false;
  return true;
}
/// False if two fixed sizes differ; symbolic sizes are compared at run time.
[[nodiscard]] constexpr bool may_be_same(std::span<const Dim> a, std::span<const Dim> b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d].is_static() && b[d].is_static() && a[d].value != b[d].value) return false;
  return true;
}
/// Returns the reason why an operator with one result element for each of `x`'s is refused, or nullptr.
[[nodiscard]] constexpr const char* refuses_other_sizes(const Call& call, ValueId x) noexcept {
  return may_be_same(call.dims(x), call.dims(call.output())) ? nullptr : "a result of other sizes";
}

}  // namespace davit::xnnpack_parts
