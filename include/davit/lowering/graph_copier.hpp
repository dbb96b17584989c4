// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/graph_builder.hpp"

namespace davit {

/// Copies rows of one graph module's tables into another that it builds, each at most once per module. O(operands) for
/// each row.
class GraphCopier {
 public:
  explicit GraphCopier(GraphModuleView graph)
      : graph_(graph),
        new_value_(graph.values.size()),
        value_stamp_(graph.values.size(), 0),
        new_expr_(graph.exprs.size()),
        expr_stamp_(graph.exprs.size(), 0),
        new_metadata_(graph.metadata.size()),
        metadata_stamp_(graph.metadata.size(), 0) {}

  GraphBuilder builder;                ///< of the module under construction
  std::vector<ExprId> used_symbols{};  ///< of the old graph, in the order of their copies

  /// Begins another module.
  void begin();
  [[nodiscard]] bool is_copied(ValueId v) const noexcept { return value_stamp_[v] == stamp_; }
  /// The value in the new module, which must be copied.
  [[nodiscard]] ValueId new_value(ValueId v) const noexcept { return new_value_[v]; }
  /// Returns the value in the new module, and copies it first if necessary.
  [[nodiscard]] ValueId value(ValueId v) { return is_copied(v) ? new_value_[v] : copy_value(v); }
  /// Copies a value, also if it has a copy, under its own name or another.
  ValueId copy_value(ValueId v) { return copy_value(v, graph_.str(graph_.values[v].name)); }
  ValueId copy_value(ValueId v, std::string_view name);
  /// Later uses of `v` refer to `made`, a value of the new module.
  void replace(ValueId v, ValueId made) noexcept {
    new_value_[v] = made;
    value_stamp_[v] = stamp_;
  }
  [[nodiscard]] ExprId expr(ExprId id);
  [[nodiscard]] Argument argument(const Argument& old);
  [[nodiscard]] std::uint32_t metadata(std::uint32_t row);
  void node(NodeId n);

 private:
  [[nodiscard]] Range dims(Range range);

  GraphModuleView graph_;
  std::vector<ValueId> new_value_;
  std::vector<std::uint32_t> value_stamp_;
  std::vector<ExprId> new_expr_;
  std::vector<std::uint32_t> expr_stamp_;
  std::vector<std::uint32_t> new_metadata_;
  std::vector<std::uint32_t> metadata_stamp_;
  std::vector<ExprId> open_exprs_;
  std::vector<Dim> scratch_dims_;
  std::vector<Argument> node_inputs_;
  std::vector<Argument> node_outputs_;
  std::uint32_t stamp_ = 0;
};

}  // namespace davit
