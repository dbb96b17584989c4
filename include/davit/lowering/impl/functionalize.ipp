// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/decompose.hpp"
#include "davit/lowering/functionalize.hpp"
#include "davit/lowering/impl/functionalizer.ipp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

DAVIT_INLINE void keep_interface(MethodInterface& interface, const ExportedProgram& original) {
  const std::vector<OutputSpec>& specs = original.signature.output_specs;
  interface.added_mutations = static_cast<std::uint32_t>(interface.outputs.size() - specs.size());
  std::size_t first = 0;
  while (first < specs.size() && output_rank(kind(specs[first])) <= 1) ++first;
  const auto begin = interface.outputs.begin() + static_cast<std::ptrdiff_t>(first);
  std::rotate(begin, begin + interface.added_mutations, interface.outputs.end());
  for (std::size_t i = 0; i < specs.size(); ++i) interface.outputs[i].name = arg_name(specs[i]);
}

/// The program with views for what changes a tensor's form in place; nothing if it has none. O(nodes).
[[nodiscard]] DAVIT_INLINE std::optional<ExportedProgram> with_named_views(const ExportedProgram& program) {
  const GraphModuleView graph = program.view();
  std::optional<ExportedProgram> made;
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const std::string_view view = view_of_form_change(graph.target(graph.nodes[n]));
    if (view.empty()) continue;
    if (!made) made = program;
    std::vector<char>& text = made->graph_module.text;
    made->graph_module.nodes[n].target = {static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(view.size())};
    text.insert(text.end(), view.begin(), view.end());
  }
  return made;
}

/// What functionalization takes apart: what writes its statistics, and what answers views that only its parts tell. Of complex
/// tensors the parts are other numbers.
[[nodiscard]] DAVIT_INLINE bool hides_storage(GraphModuleView graph, NodeId n) {
  const OperatorCall call = operator_call(graph, graph.nodes[n]);
  if (call.token != nullptr) return false;
  if (keeps_statistics(graph, call)) return true;
  const ViewOperator* row = find_view(call.target);
  return row != nullptr && row->apart && view_kind(graph, call) != ViewKind::none && !has_complex(graph, graph.nodes[n]);
}

}  // namespace detail

DAVIT_INLINE std::optional<ExportedProgram> functionalize(const ExportedProgram& program) {
  if (!writes_in_place(program.view())) return std::nullopt;
  std::optional<ExportedProgram> plain = detail::with_named_views(program);
  const auto seen = [&]() -> const ExportedProgram& { return plain ? *plain : program; };
  if (writes_in_place(seen().view()))
    if (std::optional<ExportedProgram> apart = decomposed(seen(), {.only = detail::hides_storage})) plain = std::move(apart);
  if (std::optional<ExportedProgram> made = writes_in_place(seen().view()) ? detail::Functionalizer(seen()).run() : std::nullopt) return made;
  return plain;
}

}  // namespace davit
