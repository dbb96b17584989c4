// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/decompose.hpp"
#include "davit/lowering/detail/takers.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/lowering/repair_metadata.hpp"
#include "davit/lowering/rule_evaluator.hpp"
#include "davit/lowering/value_sources.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/rules.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"
#include "davit/program/wrapped_graph.hpp"

namespace davit {

namespace detail {

/// How a composite is decomposed.
enum class DecomposeAction : std::uint8_t {
  keep,
  decompose,
  decompose_if_vanishes,  ///< if it emits no node: dropout(x) -> x
  decompose_if_gained,    ///< if backends before the last take the parts
  decompose_if_as_good,   ///< if backends take the parts that are as good as the whole's
};
/// True for an attention of one query: the whole kernel reads keys and values once, its parts read them at least twice.
[[nodiscard]] bool is_of_one_query(GraphModuleView graph, NodeId n) noexcept {
  if (graph.target(graph.nodes[n]) != "aten.scaled_dot_product_attention.default" ||
      graph.inputs(graph.nodes[n]).empty())
    return false;
  const Argument& query = graph.inputs(graph.nodes[n])[0];
  const std::span<const Dim> dims =
      query.is_value() ? graph.dims_of(graph.values[query.value()].sizes) : std::span<const Dim>();
  return dims.size() >= 2 && dims[dims.size() - 2].is_static() && dims[dims.size() - 2].value == 1;
}
[[nodiscard]] DecomposeAction action_for(GraphModuleView graph, NodeId n, const DecomposeOptions& options) {
  const std::string_view target = graph.target(graph.nodes[n]);
  if (options.only != nullptr) return options.only(graph, n) ? DecomposeAction::decompose : DecomposeAction::keep;
  bool identity = false;
  for (const std::string_view name :
       {"aten.contiguous.default", "aten.detach.default", "aten.dropout.default", "aten.to.dtype"})
    identity = identity || target == name;
  if (options.keeps != nullptr && options.keeps(graph, n))
    return identity ? DecomposeAction::decompose_if_vanishes : DecomposeAction::keep;
  const std::size_t count = taker_count(options);
  const std::size_t taker = first_taker(graph, n, options);
  if (taker == count) return DecomposeAction::decompose;
  if (identity) return DecomposeAction::decompose_if_vanishes;
  // split, unbind -> a slice per used part
  if (const ViewKind shows = view_kind(target); shows == ViewKind::split || shows == ViewKind::unbind)
    return DecomposeAction::decompose_if_as_good;
  // a recurrent layer's parts are hundreds of steps, each a dozen nodes
  if (is_recurrent_layer(target) || is_of_one_query(graph, n) || is_rule_of_core(find_decomposition(target)))
    return DecomposeAction::keep;
  return taker != 0 && taker + 1 == count ? DecomposeAction::decompose_if_gained : DecomposeAction::keep;
}

class Decomposer {
 public:
  Decomposer(const ExportedProgram& program, const DecomposeOptions& options)
      : options_(options),
        from_(program.view()),
        emit_(program.graph_module),
        rules_(emit_, program.range_constraints),
        sources_(value_sources(program)),
        replacement_(from_.values.size(), no_id),
        is_output_(from_.values.size(), 0),
        opened_(from_.graphs.size(), 0),
        writes_(writes_in_place(from_)),
        memory_(writes_ ? std::optional<InPlaceWrites<>>(from_) : std::nullopt) {}

  [[nodiscard]] GraphModule run() {
    if (taker_count(options_) != 0) {
      rules_.options = &options_;
      rules_.keeps = [](const void* options, GraphModuleView graph, NodeId node, bool is_core) {
        const auto& own = *static_cast<const DecomposeOptions*>(options);
        const bool by_the_last = is_core || is_recurrent_layer(graph.target(graph.nodes[node]));
        return first_taker(graph, node, own) + (by_the_last ? 0 : 1) < taker_count(own);
      };
    }
    for (const Graph& g : from_.graphs)
      for (const Argument& output : from_.args(g.outputs))
        from_.for_each_value(output, [&](ValueId v) { is_output_[v] = 1; });
    for (GraphId g = 0; g < from_.graphs.size(); ++g) {
      if (opened_[g] != 0) continue;
      emit_.begin(g);
      const Range nodes = from_.graphs[g].nodes;
      for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) node(n);
    }
    return emit_.finish();
  }

 private:
  /// Returns the value that stands for `v` now.
  [[nodiscard]] ValueId resolve(ValueId v) const noexcept {
    return v < replacement_.size() && replacement_[v] != no_id ? replacement_[v] : v;
  }
  [[nodiscard]] Range resolve(Range range) {
    bool changed = false;
    std::vector<Argument> rows(emit_.view().args(range).begin(), emit_.view().args(range).end());
    for (Argument& row : rows) {
      const Argument old = row;
      if (row.is_value()) row.payload = resolve(row.value());
      if (row.is_list()) row.items = resolve(row.items);
      changed = changed || row.payload != old.payload || row.items != old.items;
    }
    return changed ? emit_.list(rows) : range;
  }

  void node(NodeId n) {
    const Node& old = from_.nodes[n];
    const std::string_view target = from_.target(old);
    if (wraps_graph(target) && open(old)) return;
    Node made = old;
    made.inputs = resolve(old.inputs);
    emit_.metadata = old.metadata;
    if (autocast_ != ScalarType::undefined)
      if (const AutocastPolicy policy = facts_of(target).autocast; policy != AutocastPolicy::none)
        made.inputs = cast(made.inputs, policy == AutocastPolicy::lower ? autocast_ : ScalarType::float32);
    (void)note_source(emit_.view(), made, sources_);
    std::string_view rule = has_complex(from_, old) ? find_complex_rule(target) : std::string_view{};
    if (rule.empty()) rule = find_decomposition(target);
    if (rule.empty() || !replace(n, rule, made.inputs)) emit_.append(made);
  }

  /// Replaces a node by the nodes that its rule emits; false if it stays.
  [[nodiscard]] bool replace(NodeId n, std::string_view rule, Range inputs) {
    const DecomposeAction action = action_for(from_, n, options_);
    const Node& old = from_.nodes[n];
    // the parts would copy where the operator returns a view that is written
    const ViewKind shows = view_kind(from_, operator_call(from_, old));
    const bool is_written = writes_ && shows != ViewKind::none;
    if (action == DecomposeAction::keep || (is_rule_of_core(rule) && (is_written || taker_count(options_) == 0)))
      return false;
    const GraphEmitter::Mark mark = emit_.mark();
    std::vector<NamedItem> arguments;
    for (std::uint32_t i = 0; i < inputs.count; ++i) {
      const Argument a = emit_.module().arguments[inputs.first + i];
      arguments.push_back({from_.str(a.name), emit_.read(a)});
    }
    rules_.outputs.clear();
    for (const Argument& output : from_.outputs(old))
      from_.for_each_value(output, [&](ValueId v) { rules_.outputs.push_back(meta(v)); });
    emit_.fault = nullptr;
    rules_.has_widened = false;
    const std::size_t end = rule.find_first_of("(=");
    const Item result = rule[end] == '=' ? rules_.call(rule.substr(end + 2), std::move(arguments))
                                         : rules_.run(rule, std::move(arguments));
    bindings_.clear();
    std::string_view head = rule.substr(0, rule.find(':'));
    if (is_rule_of_core(rule)) head.remove_suffix(1);
    copies_ = writes_ && shows == ViewKind::none;
    view_ = writes_ ? n : no_id;
    if (emit_.fault == nullptr) bind(result, from_.outputs(old), mark, head.ends_with('^') || rules_.has_widened);
    if (emit_.fault != nullptr ||
        (action == DecomposeAction::decompose_if_vanishes && emit_.mark().nodes != mark.nodes) ||
        (action == DecomposeAction::decompose_if_gained && !gains(mark, taker_count(options_) - 1)) ||
        (action == DecomposeAction::decompose_if_as_good && !gains(mark, first_taker(from_, n, options_) + 1))) {
      emit_.roll_back(mark);
      sources_.resize(std::min(sources_.size(), mark.values));
      return false;
    }
    rewire(mark);
    return true;
  }

  /// True if one of the first `takers` backends takes each tensor operator emitted since the mark.
  [[nodiscard]] bool gains(const GraphEmitter::Mark& mark, std::size_t takers) {
    const GraphModuleView view = emit_.view();
    for (std::size_t n = mark.nodes; n < view.nodes.size(); ++n) {
      const std::string_view target = view.target(view.nodes[n]);
      if (target.starts_with("_operator.") || target.starts_with("torch.sym_") || target == "aten.sym_size.int" ||
          note_source(view, view.nodes[n], sources_))
        continue;
      if (first_taker(view, static_cast<NodeId>(n), options_) >= takers) return false;
    }
    return true;
  }
  [[nodiscard]] TensorMeta meta(ValueId v) const {
    const Value& value = from_.values[v];
    const auto list = [&](Range r) { return std::vector<Dim>(from_.dims_of(r).begin(), from_.dims_of(r).end()); };
    return {value.dtype, list(value.sizes), list(value.strides)};
  }

  struct Binding {
    ValueId made, old;
  };
  /// Pairs the results of a rule with the operator's outputs.
  void bind(const Item& result, std::span<const Argument> outputs, const GraphEmitter::Mark& mark, bool narrows) {
    if (outputs.size() == 1 && !(result.is_list() && !outputs[0].is_list()))
      return bind(result, outputs[0], mark, narrows);
    if (!result.is_list() || result.items.size() < outputs.size())
      return fault("a rule has another number of results than the operator");
    for (std::size_t i = 0; i < outputs.size(); ++i) bind(result.items[i], outputs[i], mark, narrows);
  }
  void bind(Item result, const Argument& output, const GraphEmitter::Mark& mark, bool narrows) {
    if (output.is_list()) {
      const std::span<const Argument> items = from_.args(output.items);
      if (!result.is_list() || result.items.size() != items.size())
        return fault("a rule has another number of results than the operator");
      for (std::size_t i = 0; i < items.size(); ++i) bind(result.items[i], items[i], mark, narrows);
      return;
    }
    if (!output.is_value()) return;
    if (!result.is_value()) return fault("a rule's result is not a value");
    const ValueId old = output.value();
    if (narrows && size_of(from_.values[old].dtype) == 2 &&
        emit_.module().values[result.value()].dtype == ScalarType::float32)
      result = rules_.call("aten._to_copy.default",
                           {{"", result}, {"dtype", Item::of(GraphBuilder::scalar_type(from_.values[old].dtype))}});
    if (view_ != no_id && memory_->is_written(old) &&
        shows_storage(from_, operator_call(from_, from_.nodes[view_]), old) && !is_view(result.value(), mark))
      return fault("a rule returns a copy of a value that is written in place");
    if (emit_.fault == nullptr && copies_ && is_view(result.value(), mark))
      result = rules_.call("aten.clone.default", {{"", result}});
    if (emit_.fault != nullptr) return;
    const Value made = emit_.module().values[result.value()];
    const Value& meant = from_.values[old];
    if (made.kind != meant.kind || made.dtype != meant.dtype || made.sizes.count != meant.sizes.count)
      return fault("a rule's result has another dtype or rank than the operator's");
    for (std::uint32_t d = 0; d < made.sizes.count; ++d) {
      const Dim& size = from_.dims[meant.sizes.first + d];
      const bool has_example = size.is_static() || size.value != 0;  // data-dependent sizes have no example in a file
      if (has_example && emit_.module().dims[made.sizes.first + d].value != size.value)
        return fault("a rule's result has another size than the operator's");
    }
    const bool emitted = result.value() >= mark.values &&
                         std::ranges::find(bindings_, result.value(), &Binding::made) == bindings_.end();
    if (!emitted && is_output_[old] != 0) {  // a second name of a value: the output keeps a node of its own
      result = rules_.call("aten.alias.default", {{"", result}});
      if (emit_.fault != nullptr) return;
    }
    bindings_.push_back({result.value(), old});
  }
  void fault(const char* why) noexcept { emit_.fault = why; }
  /// True if a result of a rule is a view of a value from before the mark.
  [[nodiscard]] bool is_view(ValueId v, const GraphEmitter::Mark& mark) {
    const GraphModuleView view = emit_.view();
    if (view.values[v].kind != ValueKind::tensor) return false;
    while (v >= mark.values && view.values[v].producer != no_id) {
      const OperatorCall call = operator_call(view, view.nodes[view.values[v].producer]);
      if (view_kind(view, call) == ViewKind::none) return false;
      const Argument* self = self_argument(view, call);
      if (self == nullptr) return true;
      v = self->value();
    }
    return true;
  }

  /// Renames the bound results of a rule to the values of the program.
  void rewire(const GraphEmitter::Mark& mark) {
    GraphModule& m = emit_.module();
    std::vector<ValueId> old_of(m.values.size() - mark.values, no_id);
    for (const Binding& b : bindings_) {
      if (b.made >= mark.values && old_of[b.made - mark.values] == no_id) {
        old_of[b.made - mark.values] = b.old;
        m.values[b.old].producer = m.values[b.made].producer;
        m.values[b.old].graph = emit_.graph;
      } else {
        replacement_[b.old] = b.made >= mark.values ? old_of[b.made - mark.values] : b.made;
      }
    }
    for (std::size_t a = mark.arguments; a < m.arguments.size(); ++a)
      if (m.arguments[a].is_value() && m.arguments[a].value() >= mark.values &&
          old_of[m.arguments[a].value() - mark.values] != no_id)
        m.arguments[a].payload = old_of[m.arguments[a].value() - mark.values];
  }

  // -- operators that wrap a graph ----------------------------------------------------------------------------------
  /// Inlines a wrapped graph at its call; false for calls of another form.
  [[nodiscard]] bool open(const Node& old) {
    const std::optional<WrappedCall> call = wrapped_call(from_, old);
    if (!call) return false;
    opened_[call->graph] = 1;
    for (const ValueId v : call->returned) is_output_[v] = 0;
    for (std::size_t i = 0; i < call->operands.size(); ++i)
      replacement_[call->parameters[i]] = resolve(call->operands[i]);
    const ScalarType outer = std::exchange(autocast_, autocast_of(from_, old, autocast_));
    const Range nodes = from_.graphs[call->graph].nodes;
    for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) {
      for (const Argument& output : from_.outputs(from_.nodes[n]))
        from_.for_each_value(output, [&](ValueId v) { move(v); });
      node(n);
    }
    autocast_ = outer;
    for (std::size_t i = 0; i < call->results.size(); ++i) {
      replacement_[call->results[i]] = resolve(call->returned[i]);
      if (is_output_[call->results[i]] == 0) continue;
      emit_.fault = nullptr;
      emit_.metadata = old.metadata;
      const GraphEmitter::Mark mark = emit_.mark();
      const Item alias =
          rules_.call("aten.alias.default", {{"", Item::of(GraphBuilder::value(replacement_[call->results[i]]))}});
      replacement_[call->results[i]] = no_id;
      bindings_.assign(1, {alias.value(), call->results[i]});
      rewire(mark);
    }
    return true;
  }
  /// Moves a value of a wrapped graph into the current graph, under a new name.
  void move(ValueId v) {
    emit_.rename(v, "wrapped");
    emit_.module().values[v].graph = emit_.graph;
  }
  /// Casts the float tensors among the arguments to that dtype.
  [[nodiscard]] Range cast(Range range, ScalarType type) {
    std::vector<Argument> rows(emit_.view().args(range).begin(), emit_.view().args(range).end());
    emit_.fault = nullptr;
    for (Argument& row : rows) {
      if (row.is_list()) row.items = cast(row.items, type);
      if (!row.is_value() || emit_.module().values[row.value()].kind != ValueKind::tensor) continue;
      const ScalarType is = emit_.module().values[row.value()].dtype;
      if (!is_floating(is) || is == ScalarType::float64 || is == type) continue;
      row.payload = rules_
                        .call("aten._to_copy.default", {{"", Item::of(GraphBuilder::value(row.value()))},
                                                        {"dtype", Item::of(GraphBuilder::scalar_type(type))}})
                        .argument.payload;
    }
    return emit_.list(rows);
  }

  const DecomposeOptions& options_;
  GraphModuleView from_;
  GraphEmitter emit_;
  RuleEvaluator rules_;
  std::vector<ValueSource> sources_;
  std::vector<ValueId> replacement_;  ///< per value: the value that replaces it
  std::vector<std::uint8_t> is_output_;
  std::vector<std::uint8_t> opened_;
  const bool writes_;                      ///< functionalize left in-place writes
  std::optional<InPlaceWrites<>> memory_;  ///< if writes_
  std::vector<Binding> bindings_;
  bool copies_ = false;  ///< the operator returns a copy, in a program that writes in place
  NodeId view_ = no_id;  ///< the operator, in a program that writes in place: it may return views
  ScalarType autocast_ = ScalarType::undefined;  ///< in a graph wrapped by autocast: its dtype
};

}  // namespace detail

std::optional<ExportedProgram> decomposed(const ExportedProgram& program, const DecomposeOptions& options) {
  const GraphModuleView graph = program.view();
  struct Known {
    std::uint32_t target = no_id;
    bool composite = false, if_complex = false;
  };
  std::array<Known, 256> known{};  // hash table of targets, by the place of their text: equal targets share it
  bool needed = false;
  for (NodeId n = 0; n < graph.nodes.size() && !needed; ++n) {
    const Text text = graph.nodes[n].target;
    Known& of = known[(text.first ^ (text.first >> 8)) % known.size()];
    if (of.target != text.first) {
      const std::string_view rule = find_decomposition(graph.str(text));
      of = {text.first, !rule.empty() && !(is_rule_of_core(rule) && detail::taker_count(options) == 0),
            !find_complex_rule(graph.str(text)).empty()};
    }
    const bool composite = of.composite || (of.if_complex && has_complex(graph, graph.nodes[n]));
    needed = composite ? detail::action_for(graph, n, options) != detail::DecomposeAction::keep
                       : wraps_graph(graph.str(text));
  }
  if (!needed) return std::nullopt;
  detail::Decomposer decomposer(program, options);
  ExportedProgram out = program;
  out.graph_module = decomposer.run();
  return out;
}

ExportedProgram run_decompositions(const ExportedProgram& program, const DecomposeOptions& options) {
  std::optional<ExportedProgram> right = with_repaired_metadata(program);
  std::optional<ExportedProgram> done = decomposed(right ? *right : program, options);
  return done ? *std::move(done) : right ? *std::move(right) : program;
}

}  // namespace davit
