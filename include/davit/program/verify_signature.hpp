// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "davit/program/exported_program.hpp"
#include "davit/program/name_map.hpp"
#include "davit/program/violations.hpp"

namespace davit::detail {

/// Checks that the signature's inputs match the graph's inputs, and that their targets exist.
template <class = void>
constexpr void verify_signature_inputs(const ProgramTables& program, Violations& report) {
  const GraphModuleView graph = program.view();
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  const std::vector<InputSpec>& specs = program.signature.input_specs;
  const auto name_of_entry = [](const NamedTensor& entry) { return entry.name.view(); };
  const NameIndex state(program.state_dict, name_of_entry), constants(program.constants, name_of_entry);
  if (inputs.size() != specs.size()) {
    report.violation("signature", concat("it lists ", specs.size(), " inputs, the graph has ", inputs.size()));
    return;
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string_view name = arg_name(specs[i]);
    const auto where = [&] { return concat("signature, input ", i, " '", name, "'"); };
    if (inputs[i].is_value() && graph.name(inputs[i].value()) != name)
      report.violation(where(), concat("the graph calls this input '", graph.name(inputs[i].value()), "'"));
    const Name* wanted = target(specs[i]);
    if (wanted == nullptr) continue;
    switch (kind(specs[i])) {
      case InputKind::parameter:
        if (!state.contains(*wanted))
          report.violation(where(), concat("parameter '", *wanted, "' is not in the state dict"));
        break;
      case InputKind::buffer:
        if (*persistent(specs[i]) && !state.contains(*wanted))
          report.violation(where(), concat("persistent buffer '", *wanted, "' is not in the state dict"));
        if (!*persistent(specs[i]) && state.contains(*wanted))
          report.violation(where(), concat("non-persistent buffer '", *wanted, "' is in the state dict"));
        if (!*persistent(specs[i]) && !constants.contains(*wanted))
          report.violation(where(), concat("non-persistent buffer '", *wanted, "' is not among the constants"));
        break;
      case InputKind::constant_tensor:
        if (!constants.contains(*wanted))
          report.violation(where(), concat("constant '", *wanted, "' is not among the constants"));
        break;
      default: break;
    }
  }
}

/// Valid targets of mutation outputs and gradients: buffers, parameters, user inputs.
class MutationTargets {
 public:
  constexpr explicit MutationTargets(const ExportGraphSignature& signature) {
    for (const InputSpec& spec : signature.input_specs) {
      if (kind(spec) == InputKind::buffer) names_[0].push_back(target(spec)->view());
      if (kind(spec) == InputKind::parameter) names_[1].push_back(target(spec)->view());
      if (kind(spec) == InputKind::user_input) names_[2].push_back(arg_name(spec).view());
    }
    for (std::vector<std::string_view>& names : names_) std::sort(names.begin(), names.end());
  }
  [[nodiscard]] constexpr bool has(OutputKind k, std::string_view wanted) const noexcept {
    const bool of_parameter = k == OutputKind::parameter_mutation || k == OutputKind::gradient_to_parameter;
    const std::vector<std::string_view>& names = names_[k == OutputKind::buffer_mutation ? 0 : of_parameter ? 1 : 2];
    return std::binary_search(names.begin(), names.end(), wanted);
  }

 private:
  std::vector<std::string_view> names_[3];
};

/// Returns the position of an output kind in torch's order: tokens, mutations, user outputs, gradients.
[[nodiscard]] constexpr int output_rank(OutputKind k) noexcept {
  switch (k) {
    case OutputKind::token: return 0;
    case OutputKind::buffer_mutation:
    case OutputKind::parameter_mutation:
    case OutputKind::user_input_mutation: return 1;
    case OutputKind::user_output:
    case OutputKind::loss_output: return 2;
    default: return 3;
  }
}

/// Checks that the signature's outputs match the graph's outputs, mutations name inputs, and kinds are in torch's
/// order.
template <class = void>
constexpr void verify_signature_outputs(const ProgramTables& program, Violations& report) {
  const GraphModuleView graph = program.view();
  const std::span<const Argument> outputs = graph.args(graph.root().outputs);
  const std::vector<OutputSpec>& specs = program.signature.output_specs;
  if (outputs.size() != specs.size()) {
    report.violation("signature", concat("it lists ", specs.size(), " outputs, the graph has ", outputs.size()));
    return;
  }
  const MutationTargets changed(program.signature);
  int reached = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string_view name = arg_name(specs[i]);
    const auto where = [&] { return concat("signature, output ", i, " '", name, "'"); };
    if (outputs[i].is_value() && graph.name(outputs[i].value()) != name)
      report.violation(where(), concat("the graph calls this output '", graph.name(outputs[i].value()), "'"));
    const OutputKind k = kind(specs[i]);
    const int rank = output_rank(k);
    if (rank < reached) report.violation(where(), "outputs must come as tokens, mutations, user outputs, gradients");
    if (rank > reached) reached = rank;
    if (const Name* wanted = target(specs[i]); wanted != nullptr && !changed.has(k, *wanted))
      report.violation(where(), concat(name_of(k), " names '", *wanted, "', which is no input of that kind"));
  }
}

}  // namespace davit::detail
