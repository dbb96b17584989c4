// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "commands.hpp"
#include "core_ir.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/program/guard_inputs.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/printer.hpp"
#include "davit/program/verify.hpp"
#include "inspect_package.hpp"
#include "read_program.hpp"
#include "signature_queries.hpp"

namespace tool {

namespace {

/// Prints number, elements and bytes of the tensors called `names`, if there are any.
void print_size(const char* what, const davit::ExportedProgram& program, const std::vector<davit::Name>& names) {
  if (names.empty()) return;
  std::int64_t elements = 0;
  std::size_t bytes = 0;
  for (const davit::Name& name : names) {
    const davit::Tensor* tensor = program.tensor_named(name);
    if (tensor == nullptr) continue;
    elements += tensor->numel();
    bytes += tensor->view().nbytes();
  }
  print("%s: %s, %lld elements, %zu bytes\n", what, count_of(names.size(), "tensor").c_str(),
        static_cast<long long>(elements), bytes);
}

/// "2 outputs"; if not all are the user's, "5 outputs: 1 loss, 4 gradients".
[[nodiscard]] std::string outputs_text(const std::vector<davit::OutputSpec>& specs) {
  using davit::OutputKind;
  std::size_t returned = 0, losses = 0, gradients = 0, mutations = 0, tokens = 0;
  for (const davit::OutputSpec& spec : specs) switch (kind(spec)) {
      case OutputKind::user_output: ++returned; break;
      case OutputKind::loss_output: ++losses; break;
      case OutputKind::gradient_to_parameter:
      case OutputKind::gradient_to_user_input: ++gradients; break;
      case OutputKind::token: ++tokens; break;
      default: ++mutations; break;
    }
  std::string text = count_of(specs.size(), "output");
  if (returned == specs.size()) return text;
  const char* before = ": ";
  for (const auto& [number, word] :
       {std::pair(losses, "loss"), std::pair(returned, "value"), std::pair(gradients, "gradient"),
        std::pair(mutations, "mutation"), std::pair(tokens, "token")})
    if (number > 0) text.append(std::exchange(before, ", ")).append(count_of(number, word));
  return text;
}

/// Returns the interface; buffers that operators write in place are state.
[[nodiscard]] davit::MethodInterface interface_of(const davit::ExportedProgram& program) {
  davit::MethodInterface interface = davit::method_interface(program);
  const davit::GraphModuleView graph = program.view();
  const std::vector<std::uint8_t> written = davit::inputs_written_in_place(graph);
  const std::vector<davit::InputRole> roles = davit::input_roles(program.signature);
  for (std::size_t i = 0; i < written.size(); ++i)
    if (const auto* buffer = std::get_if<davit::InputToBufferSpec>(&program.signature.input_specs[i]);
        buffer != nullptr && written[i] != 0 && roles[i] != davit::InputRole::state)
      interface.inputs.push_back({.name = buffer->arg.name,
                                  .role = davit::InputRole::state,
                                  .target = buffer->target,
                                  .type = davit::detail::port_type(graph, graph.args(graph.root().inputs)[i])});
  return interface;
}
/// Appends the guards, if any, to the signature's queries.
[[nodiscard]] std::string with_guards(std::string queries, const davit::ExportedProgram& program) {
  if (program.guards.empty()) return queries;
  queries.back() = ',';
  return queries + "\"guards\":" + json_list(guards_of(program.guards, davit::guard_names(program))) + "}";
}

}  // namespace

int inspect(const InspectOptions& options) {
  if (davit::formats::is_package(options.model)) {
    const davit::Result<void> status = inspect_package(options);
    if (status) return 0;
    std::fprintf(stderr, "davit: %s\n", davit::to_string(status.error()).c_str());
    return 2;
  }
  auto program = davit::formats::read_pt2(options.model, tool::reading({}, options.name));
  if (!program) {
    std::fprintf(stderr, "davit: %s\n", davit::to_string(program.error()).c_str());
    return 2;
  }
  if (options.json) {
    const auto queries = davit::formats::signature_queries_json(program->signature);
    if (!queries) {
      std::fprintf(stderr, "davit: %s\n", davit::to_string(queries.error()).c_str());
      return 2;
    }
    print("%s\n", with_guards(*queries, *program).c_str());
    return 0;
  }
  if (!options.ir.empty()) {
    program = functional_core_ir(*program);
    if (!program) {
      std::fprintf(stderr, "davit: %s\n", davit::to_string(program.error()).c_str());
      return 2;
    }
  }
  const davit::GraphModuleView graph = program->view();
  if (options.graph || !options.ir.empty()) {
    print("%s", davit::print_graph(graph, davit::PrintTypes::yes).c_str());
    return 0;
  }
  std::map<std::string, int> operators;
  for (const davit::Node& node : graph.nodes) ++operators[std::string(graph.target(node))];
  print("%s (torch %s, schema %lld.%lld)\n", options.model.c_str(), std::string(program->torch_version.view()).c_str(),
        static_cast<long long>(program->schema_major), static_cast<long long>(program->schema_minor));
  print("%s in %s, %s, %s\n", count_of(graph.nodes.size(), "node").c_str(),
        count_of(graph.graphs.size(), "graph").c_str(),
        count_of(program->signature.input_specs.size(), "input").c_str(),
        outputs_text(program->signature.output_specs).c_str());
  print_size("parameters", *program, program->signature.parameters());
  print_size("buffers", *program, program->signature.buffers());
  print_size("constants", *program, program->signature.lifted_tensor_constants());
  const auto violations = davit::verify(*program, {.allow_unknown_operators = true});
  if (violations.empty()) print_interface(interface_of(*program));
  print("operators:\n");
  for (const auto& [name, count] : operators) print("  %6d  %s\n", count, name.c_str());
  for (const davit::Error& violation : violations)
    std::fprintf(stderr, "davit: %s\n", davit::to_string(violation).c_str());
  return violations.empty() ? 0 : 2;
}

}  // namespace tool
