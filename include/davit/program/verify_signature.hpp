// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "davit/program/exported_program.hpp"
#include "davit/program/violations.hpp"

namespace davit::detail {

template <class = void>
[[nodiscard]] constexpr bool has_entry(const std::vector<NamedTensor>& entries, std::string_view name) {
  for (const NamedTensor& entry : entries)
    if (entry.name == name) return true;
  return false;
}

/// The signature's inputs are the graph's inputs, and what they stand for exists.
template <class = void>
constexpr void verify_signature_inputs(const ProgramTables& program, Violations& report) {
  const GraphModuleView graph = program.view();
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  const std::vector<InputSpec>& specs = program.signature.input_specs;
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
        if (!has_entry(program.state_dict, *wanted))
          report.violation(where(), concat("parameter '", *wanted, "' is not in the state dict"));
        break;
      case InputKind::buffer:
        if (*persistent(specs[i]) && !has_entry(program.state_dict, *wanted))
          report.violation(where(), concat("persistent buffer '", *wanted, "' is not in the state dict"));
        if (!*persistent(specs[i]) && has_entry(program.state_dict, *wanted))
          report.violation(where(), concat("non-persistent buffer '", *wanted, "' is in the state dict"));
        if (!*persistent(specs[i]) && !has_entry(program.constants, *wanted))
          report.violation(where(), concat("non-persistent buffer '", *wanted, "' is not among the constants"));
        break;
      case InputKind::constant_tensor:
        if (!has_entry(program.constants, *wanted))
          report.violation(where(), concat("constant '", *wanted, "' is not among the constants"));
        break;
      default: break;
    }
  }
}

/// Whether an output of kind `k` may name `wanted`: an input of the kind that it changes.
template <class = void>
[[nodiscard]] constexpr bool names_input(const ProgramTables& program, OutputKind k, std::string_view wanted) {
  for (const InputSpec& spec : program.signature.input_specs) {
    const InputKind input = kind(spec);
    switch (k) {
      case OutputKind::buffer_mutation:
        if (input == InputKind::buffer && *target(spec) == wanted) return true;
        break;
      case OutputKind::parameter_mutation:
      case OutputKind::gradient_to_parameter:
        if (input == InputKind::parameter && *target(spec) == wanted) return true;
        break;
      default:
        if (input == InputKind::user_input && arg_name(spec) == wanted) return true;
    }
  }
  return false;
}

/// Where outputs of a kind stand in torch's order: tokens, mutations, user outputs, gradients.
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

/// The signature's outputs are the graph's outputs, mutations name inputs, and kinds come in torch's order.
template <class = void>
constexpr void verify_signature_outputs(const ProgramTables& program, Violations& report) {
  const GraphModuleView graph = program.view();
  const std::span<const Argument> outputs = graph.args(graph.root().outputs);
  const std::vector<OutputSpec>& specs = program.signature.output_specs;
  if (outputs.size() != specs.size()) {
    report.violation("signature", concat("it lists ", specs.size(), " outputs, the graph has ", outputs.size()));
    return;
  }
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
    if (const Name* wanted = target(specs[i]); wanted != nullptr && !names_input(program, k, *wanted))
      report.violation(where(), concat(name_of(k), " names '", *wanted, "', which is no such input"));
  }
}

}  // namespace davit::detail
