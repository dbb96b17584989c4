// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
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

  [[nodiscard]] static bool answers_bool(std::string_view name) noexcept {
    constexpr std::string_view names[] = {"eq", "ne", "lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal",
                                          "not_equal", "logical_and", "logical_or", "logical_xor", "logical_not"};
    return std::ranges::find(names, name) != std::end(names);
  }
  /// True if what an operator stores in its argument `out` has the dtype of that for certain.
  [[nodiscard]] bool fits_out(std::string_view name, const OperatorCall& call, const Argument& out) const {
    const ScalarType type = graph_.values[out.value()].dtype;
    bool same = true;
    for (const Argument& input : call.inputs)
      if (&input != &out) graph_.for_each_value(input, [&](ValueId v) { same = same && (!is_tensor(v) || graph_.values[v].dtype == type); });
    return same || (type == ScalarType::bool_ && answers_bool(name));
  }
  /// The dtype of an operator's result before it is stored in `to`. Source: torch's type promotion.
  [[nodiscard]] ScalarType result_type(std::string_view name, ValueId to, const OperatorCall& call) const {
    constexpr std::string_view promotes[] = {"add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "pow", "remainder",
                                             "fmod", "floor_divide", "atan2", "addcmul", "addcdiv", "hypot", "bitwise_and", "bitwise_or",
                                             "bitwise_xor", "clamp", "clamp_min", "clamp_max", "xlogy", "copysign"};
    const Value& self = graph_.values[to];
    if (answers_bool(name)) return ScalarType::bool_;
    if (std::ranges::find(promotes, name) == std::end(promotes)) return self.dtype;
    ScalarType type = self.dtype;
    for (const Argument& input : call.inputs)
      if (input.is_value() && is_tensor(input.value()))
        if (const Value& other = graph_.values[input.value()]; other.sizes.count != 0 || self.sizes.count == 0) type = promote(type, other.dtype);
    return type;
  }

  /// "bitwise_and" for "aten.__iand__.Tensor"; empty for what is no such operator.
  [[nodiscard]] static std::string_view bitwise(std::string_view target) noexcept {
    constexpr std::pair<std::string_view, std::string_view> rows[] = {{"aten.__iand__.", "bitwise_and"},
                                                                      {"aten.__ior__.", "bitwise_or"},
                                                                      {"aten.__ixor__.", "bitwise_xor"},
                                                                      {"aten.__ilshift__.", "__lshift__"},
                                                                      {"aten.__irshift__.", "__rshift__"}};
    for (const auto& [in_place, functional] : rows)
      if (target.starts_with(in_place)) return functional;
    return {};
  }
  /// The argument of that name, or the one without a name at that place; nullptr if there is none.
  [[nodiscard]] const Argument* argument(const OperatorCall& call, std::string_view name, std::uint32_t place) const {
    return find_argument(graph_, call, name, place);
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
  /// True if two values have the same sizes whatever the symbols are.
  [[nodiscard]] bool always_same_sizes(ValueId a, ValueId b) const noexcept {
    return std::ranges::equal(graph_.dims_of(graph_.values[a].sizes), graph_.dims_of(graph_.values[b].sizes),
                              [](const Dim& x, const Dim& y) { return x.is_static() ? y.is_static() && x.value == y.value : x.expr == y.expr; });
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
