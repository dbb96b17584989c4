// SPDX-License-Identifier: MIT
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "commands.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/formats/signature_queries.hpp"
#include "davit/program/printer.hpp"
#include "davit/program/verify.hpp"

namespace tool {

int inspect(const InspectOptions& options) {
  const auto program = davit::formats::read_pt2(std::filesystem::path(options.model));
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
    std::printf("%s\n", queries->c_str());
    return 0;
  }
  const davit::GraphModuleView graph = program->view();
  if (options.graph) {
    std::printf("%s", davit::print_graph(graph).c_str());
    return 0;
  }
  std::map<std::string, int> operators;
  for (const davit::Node& node : graph.nodes) ++operators[std::string(graph.target(node))];
  std::int64_t elements = 0;
  std::size_t bytes = 0;
  for (const auto* tensors : {&program->state_dict, &program->constants})
    for (const davit::NamedTensor& entry : *tensors) {
      elements += entry.tensor.numel();
      bytes += entry.tensor.view().nbytes();
    }
  std::printf("%s (torch %s, schema %lld.%lld)\n", options.model.c_str(),
              std::string(program->torch_version.view()).c_str(), static_cast<long long>(program->schema_major),
              static_cast<long long>(program->schema_minor));
  std::printf("%zu nodes in %zu graphs, %zu inputs, %zu outputs\n", graph.nodes.size(), graph.graphs.size(),
              program->signature.input_specs.size(), program->signature.output_specs.size());
  std::printf("%zu tensors, %lld elements, %zu bytes\n", program->state_dict.size() + program->constants.size(),
              static_cast<long long>(elements), bytes);
  std::printf("operators:\n");
  for (const auto& [name, count] : operators) std::printf("  %6d  %s\n", count, name.c_str());
  const auto violations = davit::verify(*program, {.allow_unknown_operators = true});
  for (const davit::Error& violation : violations)
    std::fprintf(stderr, "davit: %s\n", davit::to_string(violation).c_str());
  return violations.empty() ? 0 : 2;
}

}  // namespace tool
