// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/promote.hpp"
#include "davit/core/config.hpp"
#include "davit/lowering/graph_copier.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

/// What functionalization knows of the values of a program, and how it writes nodes of the new one.
class FunctionalWriter {
 protected:
  explicit FunctionalWriter(GraphModuleView graph)
      : graph_(graph), copier_(graph), of_(graph.values.size()), budget_(16 * graph.nodes.size() + 1000) {
    for (ValueId v = 0; v < of_.size(); ++v) of_[v].base = v;
  }

  /// What a value of the old program shows, and whether its copy is up to date.
  struct Shown {
    ValueId base = no_id;    ///< itself, or the value whose storage it shows
    ValueId parent = no_id;  ///< of a view: the value it was made from
    NodeId via = no_id;      ///< of a view: the node that makes it
    ViewKind kind = ViewKind::none;
    bool may_be_shared = false;  ///< of a base: another value may show it, which only the run knows
    std::uint32_t item = 0;     ///< of a list of views: its place there
    std::uint32_t version = 0;  ///< of a base: how often it was written; of a view: the version that its copy shows
  };

  /// A value's sizes as an argument; those that are symbolic are asked of its copy.
  [[nodiscard]] Argument sizes_of(ValueId v, std::uint32_t metadata) {
    std::vector<Argument> items;
    bool symbolic = false;
    const std::span<const Dim> dims = graph_.dims_of(graph_.values[v].sizes);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].is_static()) {
        items.push_back(GraphBuilder::integer(dims[d].value));
        continue;
      }
      symbolic = true;
      const Argument inputs[] = {named("self", GraphBuilder::value(copier_.new_value(v))), named("dim", GraphBuilder::integer(static_cast<std::int64_t>(d)))};
      const Name name = fresh(v);
      const ValueId size = copier_.builder.declare(
          {.name = copier_.builder.text(name.view()), .constant = dims[d].value, .expr = copier_.expr(dims[d].expr), .kind = ValueKind::sym_int});
      const Argument outputs[] = {GraphBuilder::value(size)};
      copier_.builder.node("aten.sym_size.int", inputs, outputs, copier_.metadata(metadata));
      items.push_back(outputs[0]);
    }
    return copier_.builder.list(items, symbolic ? ArgumentKind::value : ArgumentKind::int_);
  }

  /// Adds a node that makes the copy of `v`, under a name of its own where there is a copy already.
  void emit(std::string_view target, std::span<const Argument> inputs, ValueId v, std::uint32_t metadata) {
    const bool again = of_[v].base != v && of_[v].kind != ViewKind::none && copier_.is_copied(v);
    emit(target, inputs, v, metadata, again ? fresh(v).view() : graph_.name(v), graph_.values[v].dtype);
  }
  void emit(std::string_view target, std::span<const Argument> inputs, ValueId v, std::uint32_t metadata, std::string_view name, ScalarType dtype) {
    const Argument outputs[] = {GraphBuilder::value(copier_.copy_value(v, name))};
    copier_.builder.module().values[outputs[0].value()].dtype = dtype;
    copier_.builder.node(target, inputs, outputs, copier_.metadata(metadata));
    ++made_;
  }
  /// A name that no exported value has: torch's are Python's, without a point.
  [[nodiscard]] Name fresh(ValueId v) { return concat(graph_.name(v), ".", ++names_); }
  [[nodiscard]] bool within_budget() const noexcept { return made_ <= budget_; }

  /// The dtype of an operator's result before it is stored in `to`. Source: torch's type promotion.
  [[nodiscard]] ScalarType result_type(std::string_view name, ValueId to, const OperatorCall& call) const {
    constexpr std::string_view answers_bool[] = {"eq", "ne", "lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal",
                                                 "not_equal", "logical_and", "logical_or", "logical_xor", "logical_not"};
    constexpr std::string_view promotes[] = {"add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "pow", "remainder",
                                             "fmod", "floor_divide", "atan2", "addcmul", "addcdiv", "hypot", "bitwise_and", "bitwise_or",
                                             "bitwise_xor", "clamp", "clamp_min", "clamp_max", "xlogy", "copysign"};
    const Value& self = graph_.values[to];
    if (std::ranges::find(answers_bool, name) != std::end(answers_bool)) return ScalarType::bool_;
    if (std::ranges::find(promotes, name) == std::end(promotes)) return self.dtype;
    ScalarType type = self.dtype;
    for (const Argument& input : call.inputs)
      if (input.is_value() && is_tensor(input.value()))
        if (const Value& other = graph_.values[input.value()]; other.sizes.count != 0 || self.sizes.count == 0) type = promote(type, other.dtype);
    return type;
  }

  /// The argument of that name, or the one without a name at that place; nullptr if there is none.
  [[nodiscard]] const Argument* argument(const OperatorCall& call, std::string_view name, std::uint32_t place) const {
    for (const Argument& input : call.inputs)
      if (graph_.str(input.name) == name) return &input;
    return place < call.inputs.size() && call.inputs[place].name.size == 0 ? &call.inputs[place] : nullptr;
  }
  [[nodiscard]] Argument named(std::string_view name, Argument a) {
    a.name = copier_.builder.intern(name);
    return a;
  }
  [[nodiscard]] std::vector<Argument> copied(std::span<const Argument> arguments) {
    std::vector<Argument> out;
    for (const Argument& a : arguments) out.push_back(copier_.argument(a));
    return out;
  }
  [[nodiscard]] bool is_tensor(ValueId v) const noexcept { return graph_.values[v].kind == ValueKind::tensor; }
  [[nodiscard]] bool same_dims(Range a, Range b) const noexcept {
    return std::ranges::equal(graph_.dims_of(a), graph_.dims_of(b), [](const Dim& x, const Dim& y) { return x.value == y.value && x.is_static() == y.is_static(); });
  }
  [[nodiscard]] bool same_sizes(ValueId a, ValueId b) const noexcept { return same_dims(graph_.values[a].sizes, graph_.values[b].sizes); }
  [[nodiscard]] bool same_strides(ValueId a, ValueId b) const noexcept { return same_dims(graph_.values[a].strides, graph_.values[b].strides); }
  /// True if two values have the same sizes whatever the symbols are.
  [[nodiscard]] bool always_same_sizes(ValueId a, ValueId b) const noexcept {
    return std::ranges::equal(graph_.dims_of(graph_.values[a].sizes), graph_.dims_of(graph_.values[b].sizes),
                              [](const Dim& x, const Dim& y) { return x.is_static() ? y.is_static() && x.value == y.value : x.expr == y.expr; });
  }
  /// As far as the export saw: by the example values of sizes and strides.
  [[nodiscard]] bool is_contiguous(ValueId v) const noexcept {
    const std::span<const Dim> sizes = graph_.dims_of(graph_.values[v].sizes);
    const std::span<const Dim> strides = graph_.dims_of(graph_.values[v].strides);
    std::int64_t step = 1;
    for (std::size_t d = strides.size() == sizes.size() ? sizes.size() : 0; d-- > 0;) {
      if (sizes[d].value != 1 && strides[d].value != step) return false;
      step *= std::max<std::int64_t>(sizes[d].value, 1);
    }
    return true;
  }

  GraphModuleView graph_;
  GraphCopier copier_;
  std::vector<Shown> of_;

 private:
  std::size_t budget_;
  std::size_t made_ = 0;
  std::size_t names_ = 0;
};

}  // namespace davit::detail
