// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/functionalize.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/lowering/unwrap_out_dtype.hpp"
#include "davit/lowering/prepare_program.hpp"
#include "davit/lowering/recurrent_layers.hpp"
#include "davit/lowering/repair_metadata.hpp"
#include "davit/lowering/shared_state.hpp"
#include "davit/lowering/simplify.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/verify.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

Error all_of(std::vector<Error> violations) {
  Error first = std::move(violations.front());
  if (violations.size() > 1) {
    first.what = concat(first.what, " (and ", violations.size() - 1, " more)");
    for (std::size_t i = 1; i < violations.size() && i < 20; ++i)
      first.source =
          concat(first.source, first.source.empty() ? "" : "\n", "  ", violations[i].where, ": ", violations[i].what);
  }
  return first;
}

Result<void> sound(const ExportedProgram& program, bool validate, bool calls) {
  if (!validate) return {};
  if (std::vector<Error> violations = verify(program, {.allow_unknown_operators = true, .calls = calls});
      !violations.empty())
    return std::unexpected(all_of(std::move(violations)));
  return {};
}

/// True if the graph's caller or a later node can see the current content of `v`'s storage after node `n`.
/// O(arguments).
[[nodiscard]] bool is_seen_after(GraphModuleView graph, NodeId n, ValueId v, InPlaceWrites<>& writes) {
  const Graph& own = graph.graphs[graph.nodes[n].graph];
  const auto is_older = [&](ValueId other) {
    const NodeId made = graph.values[other].producer;
    return graph.values[other].kind == ValueKind::tensor && writes.root(other) == writes.root(v) &&
           (made == no_id || made < n);
  };
  bool seen = false;
  const auto look = [&](const Argument& argument) {
    graph.for_each_value(argument, [&](ValueId other) { seen = seen || is_older(other); });
  };
  for (const Argument& input : graph.args(own.inputs)) look(input);
  for (const Argument& output : graph.args(own.outputs)) look(output);
  for (NodeId later = n + 1; later < own.nodes.first + own.nodes.count && !seen; ++later)
    for (const Argument& input : graph.inputs(graph.nodes[later])) look(input);
  return seen;
}
/// True for a loop that returns an operand or a view of it which is written and visible elsewhere: loops keep carried
/// values in their own storage.
[[nodiscard]] bool hands_on_operand(GraphModuleView graph, NodeId n, InPlaceWrites<>& writes) {
  const OperatorCall call = operator_call(graph, graph.nodes[n]);
  if (call.target != "higher_order.while_loop" && call.target != "higher_order.scan") return false;
  const Graph* body = nullptr;
  for (const Argument& input : call.inputs)
    if (input.kind == ArgumentKind::graph) body = &graph.graphs[input.graph()];
  const std::span<const Argument> results =
      call.outputs.size() == 1 && call.outputs[0].is_list() ? graph.args(call.outputs[0].items) : call.outputs;
  const std::span<const Argument> answers = body == nullptr ? std::span<const Argument>() : graph.args(body->outputs);
  for (std::size_t k = 0; k < std::min(results.size(), answers.size()); ++k) {
    if (!results[k].is_value() || !answers[k].is_value() ||
        graph.values[results[k].value()].kind != ValueKind::tensor || !writes.is_written(results[k].value()))
      continue;
    ValueId v = answers[k].value();
    while (graph.values[v].producer != no_id) {  // through its views and writes
      const OperatorCall producer = operator_call(graph, graph.nodes[graph.values[v].producer]);
      const Argument* self = in_place(producer.target) == InPlace::self || shows_storage(graph, producer, v)
                                 ? self_argument(graph, producer)
                                 : nullptr;
      if (self == nullptr) break;
      v = self->value();
    }
    if (graph.values[v].producer == no_id && is_seen_after(graph, n, results[k].value(), writes)) return true;
  }
  return false;
}

/// Rejects programs that depend on strides: davit's operators write contiguous results, whatever strides the program
/// records, and state is contiguous too, so that a view of it may read other elements than torch's, or be a copy. This
/// matters for as_strided and for writes.
[[nodiscard]] Result<void> check_layouts(const ExportedProgram& program) {
  const GraphModuleView graph = program.view();
  std::optional<std::vector<std::uint8_t>> state;  // per value: it is state
  const auto is_state = [&](ValueId v) {
    if (state) return (*state)[v] != 0;
    state.emplace(graph.values.size(), std::uint8_t{0});
    const std::vector<Name> changed = changed_attributes(program);
    const std::span<const Argument> inputs = graph.args(graph.root().inputs);
    for (std::size_t i = 0; i < inputs.size() && i < program.signature.input_specs.size(); ++i)
      if (const Name* name = target(program.signature.input_specs[i]); name != nullptr && inputs[i].is_value())
        (*state)[inputs[i].value()] = std::ranges::binary_search(changed, *name) ? 1 : 0;
    return (*state)[v] != 0;
  };
  const auto wrong = [&](NodeId n, std::string_view what) {
    return std::unexpected(
        Error{.code = ErrorCode::unsupported_operator,
              .stage = Stage::preprocess,
              .where = concat("node '", node_label(graph, n), "' (", graph.target(graph.nodes[n]), ")"),
              .what = Name(what),
              .fix = "take a contiguous copy in the model before"});
  };
  std::vector<ValueId> storage_of(graph.values.size());  // per value: the owner of its storage
  for (ValueId v = 0; v < storage_of.size(); ++v) storage_of[v] = v;
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const OperatorCall call = operator_call(graph, graph.nodes[n]);
    const Argument* const base = viewed(graph, call);
    if (base == nullptr) continue;
    const ValueId storage = storage_of[base->value()];
    for (const Argument& output : call.outputs)
      graph.for_each_value(output, [&](ValueId v) { storage_of[v] = storage; });
    if (!call.target.starts_with("aten.as_strided.") || is_contiguous(graph, storage)) continue;
    if (graph.values[storage].producer != no_id || is_state(storage))
      return wrong(n, "it views the storage of a tensor that is not contiguous in torch");
  }
  if (!storage_matters(graph)) return {};
  InPlaceWrites<> writes(graph);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const OperatorCall call = operator_call(graph, graph.nodes[n]);
    if (view_kind(graph, call) != ViewKind::none || in_place(call.target) != InPlace::no) continue;
    for (const Argument& output : call.outputs)
      if (output.is_value() && graph.values[output.value()].kind == ValueKind::tensor &&
          writes.is_written(output.value()) && !is_contiguous(graph, output.value()))
        return wrong(n, "its result is written in place, and is not contiguous in torch");
    if (hands_on_operand(graph, n, writes))
      return wrong(n, "its result is written in place, and its body returns its operand");
  }
  return {};
}

}  // namespace detail

Result<std::optional<ExportedProgram>> prepare_program(const ExportedProgram& program, const DecomposeOptions& options,
                                                       bool validate) {
  if (Result<void> good = detail::sound(program, validate, true); !good) return error_of(std::move(good));
  std::optional<ExportedProgram> made = with_repaired_metadata(program);
  const auto seen = [&]() -> const ExportedProgram& { return made ? *made : program; };
  const auto rewrite = [&](std::optional<ExportedProgram> to) {
    const bool changed = to.has_value();
    if (changed) made = std::move(to);
    return changed;
  };
  rewrite(with_unwrapped_out_dtype(seen()));
  rewrite(functionalize(seen(), options.backends));
  rewrite(simplified(seen(), &options, true));
  if (rewrite(with_recurrent_layers(seen(), options))) rewrite(simplified(seen(), &options, true));
  if (rewrite(decomposed(seen(), options))) rewrite(simplified(seen(), &options));
  if (made)
    if (Result<void> good = detail::sound(*made, validate); !good) return error_of(std::move(good));
  if (Result<void> good = detail::check_layouts(seen()); !good) return error_of(std::move(good));
  if (Result<void> good = detail::check_shared_storage(seen()); !good) return error_of(std::move(good));
  return made;
}

}  // namespace davit
