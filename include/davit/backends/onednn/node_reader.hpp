// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "davit/backends/onednn/library.hpp"
#include "davit/program/operator_call.hpp"

namespace davit::onednn_ops {

/// Sizes as oneDNN takes them: no dimensions become one of size 1.
[[nodiscard]] inline Dims sizes_of(GraphModuleView graph, ValueId v) {
  Dims dims;
  for (const Dim& d : graph.dims_of(graph.values[v].sizes)) dims.push_back(d.value);
  if (dims.empty()) dims.push_back(1);
  return dims;
}

/// nullptr if the backend can hold the value, else why not.
[[nodiscard]] inline const char* check_tensor(GraphModuleView graph, ValueId v) noexcept {
  const Value& value = graph.values[v];
  if (value.kind != ValueKind::tensor) return "an operand is no tensor";
  if (value.dtype != ScalarType::float32) return "a tensor is not float32";
  if (value.layout != Layout::strided && value.layout != Layout::unknown) return "a tensor is not strided";
  if (value.sizes.count > most_dims) return "a tensor has too many dimensions";
  std::int64_t count = 1;
  for (const Dim& d : graph.dims_of(value.sizes)) {
    if (!d.is_static()) return "a size is symbolic";
    if (d.value <= 0) return "a tensor has no elements";
    if (__builtin_mul_overflow(count, d.value, &count) || count > (std::int64_t{1} << 40))
      return "a tensor is too large";
  }
  return nullptr;
}

/// Access to the arguments of a node by name, or by position where the file has no names.
class NodeReader {
 public:
  NodeReader(GraphModuleView graph, NodeId node) noexcept
      : graph_(graph), node_(node), call_(operator_call(graph, graph.nodes[node])) {}

  [[nodiscard]] GraphModuleView graph() const noexcept { return graph_; }
  [[nodiscard]] NodeId node() const noexcept { return node_; }
  [[nodiscard]] const OperatorCall& call() const noexcept { return call_; }

  /// nullptr if it is not given, or None.
  [[nodiscard]] const Argument* find(std::string_view name, std::size_t position) const noexcept {
    for (std::size_t i = 0; i < call_.inputs.size(); ++i) {
      const Argument& a = call_.inputs[i];
      if (graph_.str(a.name) == name || (a.name.size == 0 && i == position))
        return a.kind == ArgumentKind::none ? nullptr : &a;
    }
    return nullptr;
  }
  /// The tensor passed there; no_id if there is none.
  [[nodiscard]] ValueId tensor(std::string_view name, std::size_t position) const noexcept {
    const Argument* a = find(name, position);
    return a != nullptr && a->is_value() ? a->value() : no_id;
  }
  [[nodiscard]] static std::optional<double> number_in(const Argument& a) noexcept {
    if (a.kind == ArgumentKind::float_) return a.float_value();
    if (a.kind == ArgumentKind::int_ || a.kind == ArgumentKind::bool_) return static_cast<double>(a.payload);
    return std::nullopt;
  }
  /// `otherwise` if the argument is missing; nothing if it is no number.
  [[nodiscard]] std::optional<double> number(std::string_view name, std::size_t position,
                                             double otherwise) const noexcept {
    const Argument* a = find(name, position);
    return a == nullptr ? otherwise : number_in(*a);
  }
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, std::size_t position,
                                                    std::int64_t otherwise) const noexcept {
    const Argument* a = find(name, position);
    if (a == nullptr) return otherwise;
    if (a->kind != ArgumentKind::int_ && a->kind != ArgumentKind::bool_) return std::nullopt;
    return a->payload;
  }
  [[nodiscard]] bool flag(std::string_view name, std::size_t position, bool otherwise) const noexcept {
    return integer(name, position, otherwise ? 1 : 0).value_or(otherwise ? 1 : 0) != 0;
  }
  /// A list of ints, or one int; `count` entries if that is not 0 (a single one is repeated). False if it does not fit.
  [[nodiscard]] bool ints(std::string_view name, std::size_t position, std::size_t count, std::int64_t otherwise,
                          Dims& out) const {
    out.clear();
    const Argument* a = find(name, position);
    if (a != nullptr && a->kind == ArgumentKind::int_) out.push_back(a->payload);
    if (a != nullptr && a->is_list())
      for (const Argument& item : graph_.args(a->items)) {
        if (item.kind != ArgumentKind::int_) return false;
        out.push_back(item.payload);
      }
    if (a != nullptr && !a->is_list() && a->kind != ArgumentKind::int_) return false;
    if (a == nullptr && count != 0) out.assign(1, otherwise);
    if (count != 0 && out.size() == 1) out.resize(count, out[0]);
    return count == 0 || out.size() == count;
  }
  /// A dimension number, negative ones counted from the end; nothing outside the rank.
  [[nodiscard]] static std::optional<int> dimension(std::int64_t d, std::size_t rank) noexcept {
    const auto n = static_cast<std::int64_t>(rank);
    if (d < -n || d >= n) return std::nullopt;
    return static_cast<int>(d < 0 ? d + n : d);
  }
  [[nodiscard]] Dims sizes(ValueId v) const { return sizes_of(graph_, v); }
  /// The number of dimensions that the program knows, 0 included.
  [[nodiscard]] std::size_t rank(ValueId v) const noexcept { return graph_.values[v].sizes.count; }
  [[nodiscard]] ValueId output(std::size_t i = 0) const noexcept {
    return i < call_.outputs.size() && call_.outputs[i].is_value() ? call_.outputs[i].value() : no_id;
  }

  /// True if a node or a graph output uses the value. O(arguments of its graph).
  [[nodiscard]] bool is_used(ValueId v) const noexcept {
    const Graph& own = graph_.graphs[graph_.nodes[node_].graph];
    bool used = false;
    const auto look = [&](const Argument& a) {
      graph_.for_each_value(a, [&](ValueId other) { used = used || other == v; });
    };
    for (const Node& n : graph_.nodes_of(own))
      for (const Argument& a : graph_.inputs(n)) look(a);
    for (const Argument& a : graph_.args(own.outputs)) look(a);
    return used;
  }
  /// True if only the first output is used.
  [[nodiscard]] bool uses_first_output_only() const noexcept {
    for (std::size_t i = 1; i < call_.outputs.size(); ++i)
      if (call_.outputs[i].is_value() && is_used(call_.outputs[i].value())) return false;
    return true;
  }

 private:
  GraphModuleView graph_;
  NodeId node_;
  OperatorCall call_;
};

}  // namespace davit::onednn_ops
