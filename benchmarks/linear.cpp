// SPDX-License-Identifier: MIT
// Instructions of reading, verifying and lowering programs that are wide, not long: benchmarks/linear.sh counts them for n and 4n.
//   linear parameters N   a sum of N parameters and of N buffers that are mutated
//   linear outputs N      N nodes of three outputs, the last two unused, for a backend that asks whether they are
// Exit status 2 if a program is refused.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/compiler_demo.hpp"
#include "davit/lowering.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/verify.hpp"

namespace {

using namespace davit;
constexpr auto f32 = ScalarType::float32;

/// The demo backend, which takes layer norms whose statistics nobody reads, as accelerators do.
struct asking : compiler_demo {
  static constexpr std::string_view name = "asking";
  static const char* refuses(GraphModuleView graph, NodeId node) noexcept {
    return operators::NodeArguments(graph, node).uses_first_output_only() ? nullptr : "the statistics are used";
  }
};

ExportedProgram parameters(std::size_t n) {
  GraphBuilder b;
  b.begin_graph("forward");
  ExportedProgram program;
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < 2 * n; ++i) {
    const std::string name = (i < n ? "p" : "b") + std::to_string(i);
    values.push_back(b.input(name, f32, {1}));
    if (i < n)
      program.signature.input_specs.push_back(InputToParameterSpec{{Name::own(name)}, Name::own(name)});
    else
      program.signature.input_specs.push_back(InputToBufferSpec{{Name::own(name)}, Name::own(name), true});
    program.state_dict.push_back({Name::own(name), Tensor::zeros(f32, std::vector<std::int64_t>{1})});
  }
  values.push_back(b.input("x", f32, {1}));
  program.signature.input_specs.push_back(UserInputSpec{TensorArgument{"x"}});
  ValueId last = values.back();
  for (std::size_t i = 0; i < 2 * n; ++i)
    last = b.call("aten.add.Tensor", {{"self", b.value(last)}, {"other", b.value(values[i])}}, "s" + std::to_string(i), f32, {1});
  std::vector<Argument> outputs;
  for (std::size_t i = n; i < 2 * n; ++i) {
    const std::string name = "s" + std::to_string(i);
    outputs.push_back(b.value(static_cast<ValueId>(2 * n + 1 + i)));
    program.signature.output_specs.push_back(BufferMutationSpec{{Name::own(name)}, Name::own("b" + std::to_string(i))});
  }
  outputs.push_back(b.value(last));
  program.signature.output_specs.push_back(UserOutputSpec{TensorArgument{Name::own("s" + std::to_string(2 * n - 1))}});
  b.end_graph(std::span<const Argument>(outputs));
  program.graph_module = std::move(b).finish();
  return program;
}

ExportedProgram outputs(std::size_t n) {
  GraphBuilder b;
  b.begin_graph("forward");
  ValueId last = b.input("x", f32, {4});
  std::string name;
  for (std::size_t i = 0; i < n; ++i) {
    name = "y" + std::to_string(i);
    const ValueId y = b.tensor(name, f32, {4}), mean = b.tensor(name + "m", f32, {1}), rstd = b.tensor(name + "r", f32, {1});
    Argument in[] = {b.value(last), b.ints({4})}, out[] = {b.value(y), b.value(mean), b.value(rstd)};
    in[0].name = b.intern("input");
    in[1].name = b.intern("normalized_shape");
    b.node("aten.native_layer_norm.default", in, out);
    last = y;
  }
  b.end_graph({last});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature.input_specs = {UserInputSpec{TensorArgument{"x"}}};
  program.signature.output_specs = {UserOutputSpec{TensorArgument{Name::own(name)}}};
  return program;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view kind = argv[1];
  const auto n = static_cast<std::size_t>(std::atol(argv[2]));
  const ExportedProgram program = kind == "parameters" ? parameters(n) : outputs(n);
  if (!verify(program).empty()) return std::puts("refused"), 2;
  if (kind == "parameters") {
    const auto lowered = to_backend<compiler_demo>(program);
    if (!lowered) return std::puts(to_string(lowered.error()).c_str()), 2;
    if (method_interface(program).inputs.size() != n + 1) return std::puts("its interface is not the buffers and the input"), 2;
    return 0;
  }
  using Backends = BackendList<asking>;
  const auto partitioned = CapabilityPartitioner<Backends>().partition({"forward", &program});
  return partitioned && partitioned->tags.names.size() == 1 ? 0 : 2;
}
