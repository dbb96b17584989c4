// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/decompose.hpp"
#include "davit/lowering/functionalize.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/lowering/detail/functionalizer.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/rules.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

void keep_interface(MethodInterface& interface, const ExportedProgram& original) {
  const std::vector<OutputSpec>& specs = original.signature.output_specs;
  interface.added_mutations = static_cast<std::uint32_t>(interface.outputs.size() - specs.size());
  std::size_t first = 0;
  while (first < specs.size() && output_rank(kind(specs[first])) <= 1) ++first;
  const auto begin = interface.outputs.begin() + static_cast<std::ptrdiff_t>(first);
  std::rotate(begin, begin + interface.added_mutations, interface.outputs.end());
  for (std::size_t i = 0; i < specs.size(); ++i) interface.outputs[i].name = arg_name(specs[i]);
}

/// The view that has the result of an operator which changes its tensor's form in place: squeeze_ -> squeeze. Later
/// readers of the tensor read the view. Empty for other operators.
[[nodiscard]] Name view_of_form_change(std::string_view target) {
  if (in_place(target) != InPlace::self) return {};
  Name form = functional_form(target);
  const ViewKind kind = view_kind(form.view());
  for (const ViewKind open : {ViewKind::none, ViewKind::maybe_same, ViewKind::maybe_shape, ViewKind::unknown})
    if (kind == open) return {};
  return form;
}
/// squeeze_(x) -> squeeze(x), and the like; nothing if the program has no such operator. O(nodes).
[[nodiscard]] std::optional<ExportedProgram> with_named_views(const ExportedProgram& program) {
  const GraphModuleView graph = program.view();
  std::optional<ExportedProgram> made;
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const Name form = view_of_form_change(graph.target(graph.nodes[n]));
    const std::string_view view = form.view();
    if (view.empty()) continue;
    if (!made) made = program;
    std::vector<char>& text = made->graph_module.text;
    made->graph_module.nodes[n].target = {static_cast<std::uint32_t>(text.size()),
                                          static_cast<std::uint32_t>(view.size())};
    text.insert(text.end(), view.begin(), view.end());
  }
  return made;
}

/// True for operators that functionalization decomposes first: batch_norm writes its statistics, and views of others
/// follow from their parts alone. Complex tensors are left out: their parts are other numbers.
[[nodiscard]] bool hides_storage(GraphModuleView graph, NodeId n) {
  const OperatorCall call = operator_call(graph, graph.nodes[n]);
  if (call.token != nullptr) return false;
  if (mutates_arguments(graph, call)) return true;
  return facts_of(call.target).apart && view_kind(graph, call) != ViewKind::none && !has_complex(graph, graph.nodes[n]);
}

/// The schema of a backend's own operator; empty if no backend has it.
[[nodiscard]] std::string_view own_schema(BackendTables backends, std::string_view target) {
  for (std::size_t i = 0; i < backends.size(); ++i)
    if (const std::string_view schema =
            backends[i].operator_schema == nullptr ? std::string_view{} : backends[i].operator_schema(target);
        !schema.empty())
      return schema;
  return {};
}
/// True if a schema declares a write: "Tensor(a!)", also where the result is that argument.
[[nodiscard]] bool says_write(std::string_view schema) noexcept {
  return schema.substr(0, schema.rfind(" -> ")).find("!)") != std::string_view::npos;
}
/// Rewrites calls of backends' own operators that write: auto_functionalized(op, ...), and copies of its results into
/// the written arguments.
class FunctionalCalls {
 public:
  FunctionalCalls(const ExportedProgram& program, BackendTables backends)
      : from_(program.view()), emit_(program.graph_module), backends_(backends) {}

  [[nodiscard]] GraphModule run() {
    emit_.each_node(from_, [&](NodeId n) { rewrite(from_.nodes[n]); });
    return emit_.finish();
  }

 private:
  void rewrite(const Node& node) {
    const std::string_view target = from_.target(node);
    const std::string_view text = own_schema(backends_, target);
    if (!says_write(text)) {
      emit_.append(node);
      return;
    }
    const OperatorSchema schema = parse_schema(text);
    emit_.metadata = node.metadata;
    const OperatorCall call = operator_call(from_, node);
    std::vector<Argument> inputs{emit_.argument({.argument = {.kind = ArgumentKind::operator_name}, .text = target})};
    std::vector<Argument> outputs(call.outputs.begin(), call.outputs.end());
    if (outputs.empty()) outputs.emplace_back();  // the result None
    std::vector<std::pair<ValueId, ValueId>> copies;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      inputs.push_back(call.inputs[i]);
      if (inputs.back().name.size == 0 && i < schema.parameters.size())
        inputs.back().name = emit_.intern(schema.parameters[i].name);
    }
    const auto made_anew = [&](const Argument& a) {
      if (!a.is_value()) return Argument{};
      copies.emplace_back(a.value(), emit_.declare(Value(from_.values[a.value()]), from_.name(a.value())));
      return GraphBuilder::value(copies.back().second);
    };
    for (std::uint32_t i = 0; i < schema.parameters.size(); ++i) {
      if (!schema.parameters[i].is_written) continue;
      const Argument* const written = find_argument(from_, call, schema.parameters[i].name, i);
      if (written == nullptr || !written->is_list()) {
        outputs.push_back(written == nullptr ? Argument{} : made_anew(*written));
        continue;
      }
      std::vector<Item> items;
      for (const Argument& item : from_.args(written->items)) items.push_back(Item::of(made_anew(item)));
      outputs.push_back(emit_.argument(Item::list(std::move(items))));
    }
    emit_.append({.target = emit_.intern("higher_order.auto_functionalized"),
                  .inputs = emit_.list(inputs),
                  .outputs = emit_.list(outputs),
                  .metadata = node.metadata});
    for (const auto& [to, from] : copies) {
      const Argument out = GraphBuilder::value(emit_.declare(Value(from_.values[to]), "copy"));
      const Argument both[] = {GraphBuilder::value(to), GraphBuilder::value(from)};
      emit_.append({.target = emit_.intern("aten.copy_.default"),
                    .inputs = emit_.list(both),
                    .outputs = emit_.list({&out, 1}),
                    .metadata = node.metadata});
    }
  }

  GraphModuleView from_;
  GraphEmitter emit_;
  BackendTables backends_;
};

/// Returns the program with functional calls; nothing if no call writes. O(nodes * backends).
[[nodiscard]] std::optional<ExportedProgram> with_functional_calls(const ExportedProgram& program,
                                                                   BackendTables backends) {
  const GraphModuleView graph = program.view();
  if (std::ranges::none_of(graph.nodes,
                           [&](const Node& node) { return says_write(own_schema(backends, graph.target(node))); }))
    return std::nullopt;
  ExportedProgram out = program;
  out.graph_module = FunctionalCalls(program, backends).run();
  return out;
}

}  // namespace detail

std::optional<ExportedProgram> functionalize(const ExportedProgram& program, BackendTables backends) {
  if (std::optional<ExportedProgram> called = detail::with_functional_calls(program, backends)) {
    std::optional<ExportedProgram> made = functionalize(*called);
    return made ? std::move(made) : std::move(called);
  }
  if (!writes_in_place(program.view())) return std::nullopt;
  std::optional<ExportedProgram> plain = detail::with_named_views(program);
  const auto seen = [&]() -> const ExportedProgram& { return plain ? *plain : program; };
  if (writes_in_place(seen().view()))
    if (std::optional<ExportedProgram> apart = decomposed(seen(), {.only = detail::hides_storage}))
      plain = std::move(apart);
  if (std::optional<ExportedProgram> made =
          writes_in_place(seen().view()) ? detail::Functionalizer(seen()).run() : std::nullopt)
    return made;
  return plain;
}

}  // namespace davit
