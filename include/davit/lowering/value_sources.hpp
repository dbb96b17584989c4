// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/program/exported_program.hpp"

namespace davit {

/// The source of a value, as a partition sees it.
enum class ValueSource : std::uint8_t {
  passed,    ///< a user input, or the result of a node
  constant,  ///< a parameter, buffer, constant or object that the program does not change
  state,     ///< a parameter, buffer or constant that it changes
};

/// The source of every value. O(values + specs log specs).
[[nodiscard]] constexpr std::vector<ValueSource> value_sources(const ProgramTables& program) {
  const ExportGraphSignature& signature = program.signature;
  const GraphModuleView graph = program.view();
  std::vector<std::string_view> changed;
  for (const OutputSpec& spec : signature.output_specs)
    if (kind(spec) == OutputKind::buffer_mutation || kind(spec) == OutputKind::parameter_mutation)
      changed.push_back(target(spec)->view());
  for (const Name& name : signature.unlisted_state) changed.push_back(name.view());
  std::ranges::sort(changed);
  std::vector<ValueSource> sources(graph.values.size(), ValueSource::passed);
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  for (std::size_t i = 0; i < inputs.size() && i < signature.input_specs.size(); ++i) {
    const InputSpec& spec = signature.input_specs[i];
    if (!inputs[i].is_value() || kind(spec) == InputKind::user_input || kind(spec) == InputKind::token) continue;
    const Name* name = target(spec);
    const bool changes = name != nullptr && std::ranges::binary_search(changed, name->view());
    sources[inputs[i].value()] = changes ? ValueSource::state : ValueSource::constant;
  }
  return sources;
}

/// Records the sources of a node's values; returns true if the node depends on constants alone, so that lowering can
/// compute it. `sources` grows to all values of the graph. O(values of the node).
[[nodiscard]] constexpr bool note_source(GraphModuleView graph, const Node& node, std::vector<ValueSource>& sources) {
  if (sources.size() < graph.values.size()) sources.resize(graph.values.size(), ValueSource::passed);
  bool constant = true;
  for (const Argument& input : graph.inputs(node))
    graph.for_each_value(input, [&](ValueId v) { constant = constant && sources[v] == ValueSource::constant; });
  for (const Argument& output : graph.outputs(node))
    graph.for_each_value(output,
                         [&](ValueId v) { sources[v] = constant ? ValueSource::constant : ValueSource::passed; });
  return constant;
}

/// Returns 1 per value that depends on constants alone, else 0: the table behind GraphModuleView::constant, for
/// backends that judge regions. O(values + edges + specs log specs).
[[nodiscard]] constexpr std::vector<std::uint8_t> constant_values(const ProgramTables& program) {
  std::vector<ValueSource> sources = value_sources(program);
  for (const Node& node : program.view().nodes) (void)note_source(program.view(), node, sources);
  std::vector<std::uint8_t> constant;
  for (const ValueSource source : sources) constant.push_back(source == ValueSource::constant ? 1 : 0);
  return constant;
}

}  // namespace davit
