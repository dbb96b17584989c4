// SPDX-License-Identifier: MIT
// Writes the embedded form of a chain of elementwise nodes, for benchmarks/compile_time.sh: chain_header NODES DIR.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "davit/formats/embed_program.hpp"
#include "davit/formats/implementation.hpp"
#include "davit/implementation.hpp"
#include "davit/program/graph_builder.hpp"

namespace {

using namespace davit;

/// x -> relu -> add x -> mul x -> neg -> relu ..., `count` nodes over 64 elements.
ExportedProgram chain(int count) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {1, 64});
  ValueId last = x;
  for (int i = 0; i < count; ++i) {
    const std::string name = "n" + std::to_string(i);
    switch (i % 4) {
      case 0: last = b.call("aten.relu.default", {{"self", b.value(last)}}, name, ScalarType::float32, {1, 64}); break;
      case 1:
        last = b.call("aten.add.Tensor", {{"self", b.value(last)}, {"other", b.value(x)}}, name, ScalarType::float32,
                      {1, 64});
        break;
      case 2:
        last = b.call("aten.mul.Tensor", {{"self", b.value(last)}, {"other", b.value(x)}}, name, ScalarType::float32,
                      {1, 64});
        break;
      default: last = b.call("aten.neg.default", {{"self", b.value(last)}}, name, ScalarType::float32, {1, 64}); break;
    }
  }
  b.end_graph({last});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature.input_specs.push_back(UserInputSpec{TensorArgument{"x"}});
  program.signature.output_specs.push_back(UserOutputSpec{TensorArgument{Name(program.view().name(last))}});
  return program;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const ExportedProgram program = chain(std::atoi(argv[1]));
  const auto embedded = formats::embed_program(program, {.name = "chain"});
  if (!embedded) {
    std::fprintf(stderr, "%s\n", to_string(embedded.error()).c_str());
    return 1;
  }
  std::filesystem::create_directories(argv[2]);
  std::ofstream(std::filesystem::path(argv[2]) / "chain.hpp") << embedded->header;
  return 0;
}
