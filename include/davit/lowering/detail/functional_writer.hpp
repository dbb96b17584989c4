// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/promote.hpp"
#include "davit/lowering/graph_copier.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operators.hpp"
#include "davit/ops/rules.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

/// Writes the nodes of a functional program, and tracks which old values are views and whether their copies are
/// outdated.
class FunctionalWriter {
 public:
  explicit FunctionalWriter(GraphModuleView from)
      : graph(from), copier(from), shown(from.values.size()), budget_(16 * from.nodes.size() + 1000) {
    for (ValueId v = 0; v < shown.size(); ++v) shown[v].base = v;
  }

  /// The base of a value of the old program, and the version of the base that the value's copy shows.
  struct Shown {
    ValueId base = no_id;    ///< the value itself, or the owner of its storage
    ValueId parent = no_id;  ///< of a view: its operand
    NodeId via = no_id;      ///< of a view: the node that makes it
    ViewKind kind = ViewKind::none;
    std::uint32_t item = 0;     ///< of a list of views: the index in the list
    std::uint32_t version = 0;  ///< of a base: the number of writes; of a view: the version that its copy shows
  };

  /// A value's sizes as an argument; symbolic ones are sym_size nodes of its copy.
  [[nodiscard]] Argument sizes_of(ValueId v, std::uint32_t metadata) {
    std::vector<Argument> items;
    bool symbolic = false;
    const std::span<const Dim> dims = graph.dims_of(graph.values[v].sizes);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].is_static()) {
        items.push_back(GraphBuilder::integer(dims[d].value));
        continue;
      }
      symbolic = true;
      const Argument inputs[] = {named("self", GraphBuilder::value(copier.new_value(v))),
                                 named("dim", GraphBuilder::integer(static_cast<std::int64_t>(d)))};
      const Name name = fresh(v);
      const ValueId size = copier.builder.declare({.name = copier.builder.text(name.view()),
                                                   .constant = dims[d].value,
                                                   .expr = copier.expr(dims[d].expr),
                                                   .kind = ValueKind::sym_int});
      const Argument outputs[] = {GraphBuilder::value(size)};
      copier.builder.node("aten.sym_size.int", inputs, outputs, copier.metadata(metadata));
      items.push_back(outputs[0]);
    }
    return copier.builder.list(items, symbolic ? ArgumentKind::value : ArgumentKind::int_);
  }

  /// Adds a node that computes the copy of `v`, under a new name if a copy exists already.
  void emit(std::string_view target, std::span<const Argument> inputs, ValueId v, std::uint32_t metadata) {
    const bool again = shown[v].base != v && shown[v].kind != ViewKind::none && copier.is_copied(v);
    emit(target, inputs, v, metadata, again ? fresh(v).view() : graph.name(v), graph.values[v].dtype);
  }
  void emit(std::string_view target, std::span<const Argument> inputs, ValueId v, std::uint32_t metadata,
            std::string_view name, ScalarType dtype) {
    const Argument outputs[] = {GraphBuilder::value(copier.copy_value(v, name))};
    copier.builder.module().values[outputs[0].value()].dtype = dtype;
    copier.builder.node(target, inputs, outputs, copier.metadata(metadata));
    ++made_;
  }
  /// As above; a temporary copy gets a new name, so that a later copy may have the value's own.
  void emit(std::string_view target, std::span<const Argument> inputs, ValueId v, std::uint32_t metadata,
            bool temporary) {
    temporary ? emit(target, inputs, v, metadata, fresh(v).view(), graph.values[v].dtype)
              : emit(target, inputs, v, metadata);
  }
  /// Adds a node that computes the copies of `made` with these dtypes, and casts them to their own dtypes unless they
  /// are temporary.
  void emit(std::string_view target, std::span<const Argument> inputs, std::span<const Argument> made,
            std::span<const ScalarType> types, std::uint32_t metadata, bool temporary) {
    std::vector<Argument> outputs;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const ValueId v = made[i].value();
      outputs.push_back(GraphBuilder::value(temporary || types[i] != graph.values[v].dtype
                                                ? copier.copy_value(v, fresh(v).view())
                                                : copier.copy_value(v)));
      copier.builder.module().values[outputs.back().value()].dtype = types[i];
    }
    copier.builder.node(target, inputs, outputs, copier.metadata(metadata));
    ++made_;
    for (std::size_t i = 0; i < made.size() && !temporary; ++i)
      if (types[i] != graph.values[made[i].value()].dtype) cast(made[i].value(), metadata);
  }
  /// The argument dtype=type.
  [[nodiscard]] Argument of_dtype(ScalarType type) {
    Argument dtype = named("dtype", GraphBuilder::scalar_type(type));
    dtype.keyword = 1;
    return dtype;
  }
  /// Casts the copy of `made` to its own dtype.
  void cast(ValueId made, std::uint32_t metadata) {
    const Argument inputs[] = {named("self", GraphBuilder::value(copier.new_value(made))),
                               of_dtype(graph.values[made].dtype)};
    emit("aten._to_copy.default", inputs, made, metadata);
  }
  /// Makes a name that no exported value has: torch's names are Python identifiers, without a point.
  [[nodiscard]] Name fresh(ValueId v) { return concat(graph.name(v), ".", ++names_); }
  [[nodiscard]] bool within_budget() const noexcept { return made_ <= budget_; }

  /// "aten.add.Tensor" -> "add".
  [[nodiscard]] static std::string_view operator_name(std::string_view target) noexcept {
    return target.substr(5, target.rfind('.') - 5);
  }
  [[nodiscard]] static bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  }
  [[nodiscard]] bool has_dtype(const OperatorCall& call) const {
    return find_argument(graph, call, "dtype", no_id) != nullptr;
  }
  /// Returns the dtype of result `i` of an operator before it is stored in its argument; nothing if the rule is
  /// unknown.
  [[nodiscard]] std::optional<ScalarType> out_type(std::string_view target, const OperatorCall& call,
                                                   std::span<const Argument* const> written, std::size_t i) const {
    const std::string_view name = operator_name(target);
    const ResultRule rule = facts_of(target).result;
    if (rule == ResultRule::boolean) return ScalarType::bool_;
    if (rule == ResultRule::dtype_argument) return graph.values[written[i]->value()].dtype;
    const bool tells_places = rule == ResultRule::promoted_and_index || rule == ResultRule::unknown_and_index;
    if (written.size() > 1 && !tells_places && name != "aminmax") return std::nullopt;
    if ((i != 0 && tells_places) || rule == ResultRule::index) return ScalarType::int64;
    std::optional<ScalarType> whole, single;  // promoted dtype of tensors with dimensions, and of tensors without
    bool real = false;                        // some operand is a float number
    for (const Argument& input : call.inputs) {
      if (std::ranges::find(written, &input) != written.end() ||
          is_one_of(graph.str(input.name), {"condition", "index", "indices", "mask"}))
        continue;
      real = real || input.kind == ArgumentKind::float_;
      for_each_tensor({&input, 1}, [&](ValueId v) {
        std::optional<ScalarType>& type = graph.values[v].sizes.count == 0 ? single : whole;
        type = type ? promote(*type, graph.values[v].dtype) : graph.values[v].dtype;
      });
    }
    if (whole && single && (is_integral(*whole) > is_integral(*single) || is_complex(*whole) < is_complex(*single)))
      return std::nullopt;
    const std::optional<ScalarType> type = whole ? whole : single;
    if (!type || is_complex(*type) || is_one_of(name, {"float_power", "ldexp"})) return std::nullopt;
    if (is_floating(*type)) return type;
    if (target.ends_with("_mode")) return type;
    if (rule == ResultRule::floating || (name.starts_with("special_") && name != "special_round"))
      return ScalarType::float32;
    const bool keeps = rule == ResultRule::promoted || rule == ResultRule::promoted_and_index;
    return keeps && !real ? type : std::nullopt;
  }
  /// The dtype of an operator's result before it is stored in `to`. Source: torch's type promotion.
  [[nodiscard]] ScalarType result_type(std::string_view target, ValueId to, const OperatorCall& call) const {
    const std::string_view name = operator_name(target);
    const OperatorFacts& facts = facts_of(target);
    const Value& self = graph.values[to];
    if (facts.result == ResultRule::boolean) return ScalarType::bool_;
    if (facts.result == ResultRule::dtype_argument) return is_integral(self.dtype) ? ScalarType::int64 : self.dtype;
    if (name == "float_power") return is_complex(self.dtype) ? ScalarType::complex128 : ScalarType::float64;
    if (!facts.promotes) return self.dtype;
    ScalarType type = self.dtype;
    for (const Argument& input : call.inputs)
      if (input.is_value() && is_tensor(input.value()) && input.value() != to)
        if (const Value& other = graph.values[input.value()]; other.sizes.count != 0 || self.sizes.count == 0)
          type =
              promote(type, name == "ldexp" && is_integral(other.dtype) ? ScalarType::float32
                                                                        : other.dtype);  // ldexp multiplies by 2^other
    return type;
  }

  /// True for an operator that has a schema or a rule.
  [[nodiscard]] static bool is_known(std::string_view target) {
    return !find_operator(target).empty() || !find_decomposition(target).empty();
  }
  /// Returns the argument of that name, else the unnamed argument at that position; nullptr if there is none.
  [[nodiscard]] const Argument* argument(const OperatorCall& call, std::string_view name, std::uint32_t place) const {
    return find_argument(graph, call, name, place);
  }
  [[nodiscard]] Argument named(std::string_view name, Argument a) {
    a.name = copier.builder.intern(name);
    return a;
  }
  [[nodiscard]] std::vector<Argument> copied(std::span<const Argument> arguments) {
    std::vector<Argument> out;
    for (const Argument& a : arguments) out.push_back(copier.argument(a));
    return out;
  }
  template <class Visit>
  void for_each_tensor(std::span<const Argument> arguments, Visit&& visit) const {
    for (const Argument& argument : arguments)
      graph.for_each_value(argument, [&](ValueId v) {
        if (is_tensor(v)) visit(v);
      });
  }
  [[nodiscard]] bool is_tensor(ValueId v) const noexcept { return graph.values[v].kind == ValueKind::tensor; }
  [[nodiscard]] bool same_dims(Range a, Range b) const noexcept {
    return std::ranges::equal(graph.dims_of(a), graph.dims_of(b), [](const Dim& x, const Dim& y) {
      return x.value == y.value && x.is_static() == y.is_static();
    });
  }
  [[nodiscard]] bool same_sizes(ValueId a, ValueId b) const noexcept {
    return same_dims(graph.values[a].sizes, graph.values[b].sizes);
  }
  /// True if two values have the same sizes for all values of the symbols.
  [[nodiscard]] bool always_same_sizes(ValueId a, ValueId b) const noexcept {
    return always_same(graph.dims_of(graph.values[a].sizes), graph.dims_of(graph.values[b].sizes));
  }
  [[nodiscard]] static bool always_same(std::span<const Dim> a, std::span<const Dim> b) noexcept {
    return std::ranges::equal(a, b, [](const Dim& x, const Dim& y) {
      return x.is_static() ? y.is_static() && x.value == y.value : x.expr == y.expr;
    });
  }
  /// True if `more` has the sizes of `less` behind dimensions of size 1: [1, 1, 3, 4] and [3, 4].
  [[nodiscard]] bool only_adds_ones(ValueId more, ValueId less) const noexcept {
    const std::span<const Dim> a = graph.dims_of(graph.values[more].sizes), b = graph.dims_of(graph.values[less].sizes);
    return a.size() >= b.size() && always_same(a.last(b.size()), b) &&
           std::ranges::all_of(a.first(a.size() - b.size()),
                               [](const Dim& d) { return d.is_static() && d.value == 1; });
  }
  /// Marks the storage of `v` to be written in place in the next attempt.
  [[nodiscard]] bool keep(ValueId v) noexcept {
    culprit = v;
    return false;
  }
  /// Resets the count of made nodes.
  void restart() noexcept { made_ = 0; }

  const GraphModuleView graph;
  GraphCopier copier;
  std::vector<Shown> shown;  ///< per value
  ValueId culprit = no_id;   ///< the value without a functional form

 private:
  std::size_t budget_;
  std::size_t made_ = 0;
  std::size_t names_ = 0;
};

}  // namespace davit::detail
