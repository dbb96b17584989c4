// SPDX-License-Identifier: MIT
// Instructions of verifying, lowering and running programs that are wide, not long: benchmarks/linear.sh counts them
// for n and 4n.
//   linear parameters N   a sum of N parameters and of N buffers that are mutated
//   linear outputs N      N nodes of three outputs, the last two unused, for a backend that asks whether they are
//   linear state N        N buffers and N inputs, all mutated, in one partition: lowered, and run four times
//   linear steps N        the same with a partition per node
//   linear writes N       N buffers and N inputs that operators write in place, for which there are values
//   linear in_place N     the same where two buffers are one, which must be written as they are
// Exit status 2 if a program is refused.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../examples/compiler_demo/compiler_demo.hpp"
#include "davit/lowering.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime.hpp"

namespace {

using namespace davit;
constexpr auto f32 = ScalarType::float32;

/// The demo backend, which takes layer norms with unused statistics, as accelerators do.
struct asking : demo::compiler_demo {
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
    last = b.call("aten.add.Tensor", {{"self", b.value(last)}, {"other", b.value(values[i])}}, "s" + std::to_string(i),
                  f32, {1});
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
    const ValueId y = b.tensor(name, f32, {4}), mean = b.tensor(name + "m", f32, {1}),
                  rstd = b.tensor(name + "r", f32, {1});
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

/// A backend for additions of one float, which writes outputs to their destinations, also over inputs.
struct adder {
  static constexpr std::string_view name = "adder";
  static constexpr bool never_views_inputs = true;
  struct CompileSpec {};
  struct Code {
    struct Sum {
      std::uint32_t a, b, to;
      bool in_place;
    };
    std::vector<Sum> sums;
    std::vector<std::uint32_t> inputs, outputs;  ///< values
    std::vector<std::uint32_t> updated;          ///< per output: the input that it updates
    std::size_t values = 0;
  };
  using Processed = std::shared_ptr<const Code>;
  using Handle = Processed;
  struct Workspace {
    std::vector<EValue> values;
    std::vector<float> made;
  };
  static bool is_available() { return true; }
  static Result<Processed> preprocess(const Method& method, const CompileSpec&, DebugHandleRecorder&) {
    const GraphModuleView graph = method.view();
    auto code = std::make_shared<Code>();
    code->values = graph.values.size();
    std::vector<std::uint32_t> input_of(graph.values.size(), no_id), added_to(graph.values.size(), no_id);
    for (const Argument& a : graph.args(graph.root().inputs)) {
      input_of[a.value()] = static_cast<std::uint32_t>(code->inputs.size());
      code->inputs.push_back(a.value());
    }
    for (const Node& node : graph.nodes) {
      const auto in = graph.inputs(node);
      const ValueId to = graph.outputs(node)[0].value();
      code->sums.push_back({in[0].value(), in[1].value(), to, graph.target(node) == "aten.add_.Tensor"});
      added_to[to] = input_of[in[0].value()];
    }
    for (const Argument& a : graph.args(graph.root().outputs)) {
      code->outputs.push_back(a.value());
      code->updated.push_back(added_to[a.value()]);
    }
    return code;
  }
  static Result<Handle> compile(const Processed& processed, const CompileSpec&) { return processed; }
  static Result<std::size_t> prepare(const Handle& handle, std::span<const EValue>, std::span<const EValue>,
                                     Workspace& workspace) {
    workspace.values.resize(handle->values);
    workspace.made.resize(handle->values);
    return 0;
  }
  static bool may_overwrite(const Handle& handle, std::size_t input, std::size_t output) {
    return handle->updated[output] == input;
  }
  static bool updates_input(const Handle& handle, std::size_t input, std::size_t output) {
    return handle->updated[output] == input;
  }
  template <class Context>
  static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                        Context& context) {
    static constexpr std::int64_t one = 1;
    std::vector<EValue>& values = context.workspace().values;
    std::vector<float>& made = context.workspace().made;
    for (std::size_t i = 0; i < inputs.size(); ++i) values[handle->inputs[i]] = inputs[i];
    for (const Code::Sum& sum : handle->sums) {
      float* const to = sum.in_place ? values[sum.a].tensor().template as<float>() : &made[sum.to];
      *to = *values[sum.a].tensor().template as<float>() + *values[sum.b].tensor().template as<float>();
      values[sum.to] = EValue(TensorView{to, &one, &one, 1, f32});
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const EValue& value = values[handle->outputs[i]];
      if (outputs[i].is_none()) {
        outputs[i] = value;
        continue;
      }
      float* const at = outputs[i].tensor().template as<float>();
      if (context.undo() != nullptr && handle->updated[i] != no_id && at == inputs[handle->updated[i]].tensor().data)
        context.undo()->keep(at, sizeof(float));
      *at = *value.tensor().template as<float>();
    }
    return {};
  }
};

/// A partition per node.
struct Apart {
  using Backends = BackendList<adder>;
  [[nodiscard]] Result<Partitioning<Backends>> partition(const Method& method) const {
    const GraphModuleView graph = method.view();
    Partitioning<Backends> out(graph);
    for (NodeId n = 0; n < graph.nodes.size(); ++n) out.tags.tag_node(n, out.add(concat("part_", n), {.backend = 0}));
    return out;
  }
};

/// Adds each of N inputs to its buffer, and the buffer's new value to the input; returns the old inputs and the
/// buffers' new values. `in_place`: by operators that write, without mutations in the signature; `tied`: the first two
/// buffers are one.
ExportedProgram mutations(std::size_t n, bool in_place, bool tied) {
  GraphBuilder b;
  b.begin_graph("forward");
  ExportedProgram program;
  std::vector<ValueId> buffers, inputs;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = "b" + std::to_string(i), target = tied && i == 1 ? "b0" : name;
    buffers.push_back(b.input(name, f32, {1}));
    program.signature.input_specs.push_back(InputToBufferSpec{{Name::own(name)}, Name::own(target), true});
    if (target == name)
      program.state_dict.push_back({Name::own(name), Tensor::zeros(f32, std::vector<std::int64_t>{1})});
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = "x" + std::to_string(i);
    inputs.push_back(b.input(name, f32, {1}));
    program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name::own(name)}});
  }
  std::vector<Argument> results, changed;
  std::vector<OutputSpec> specs;
  const auto answer = [&](ValueId value, const std::string& name) {
    results.push_back(b.value(value));
    specs.push_back(UserOutputSpec{TensorArgument{Name::own(name)}});
  };
  for (std::size_t i = 0; i < n; ++i) {
    const std::string k = std::to_string(i), target = in_place ? "aten.add_.Tensor" : "aten.add.Tensor";
    const ValueId sum =
        b.call(target, {{"self", b.value(buffers[i])}, {"other", b.value(inputs[i])}}, "s" + k, f32, {1});
    const ValueId next = b.call(target, {{"self", b.value(inputs[i])}, {"other", b.value(sum)}}, "t" + k, f32, {1});
    answer(sum, "s" + k);
    answer(inputs[i], "x" + k);
    if (in_place) continue;
    program.signature.output_specs.push_back(BufferMutationSpec{{Name::own("s" + k)}, Name::own("b" + k)});
    changed.push_back(b.value(sum));
    program.signature.output_specs.push_back(UserInputMutationSpec{{Name::own("t" + k)}, Name::own("x" + k)});
    changed.push_back(b.value(next));
  }
  changed.insert(changed.end(), results.begin(), results.end());
  program.signature.output_specs.insert(program.signature.output_specs.end(), specs.begin(), specs.end());
  b.end_graph(std::span<const Argument>(changed));
  program.graph_module = std::move(b).finish();
  return program;
}

/// Runs it by position, by name, again, and with outputs of the previous run among the inputs; reads all outputs and
/// mutations.
bool run(const LoweredProgram& lowered, std::size_t n, std::size_t mutations) {
  static constexpr std::int64_t one = 1;
  auto session = Session::make(lowered);
  if (!session) return false;
  std::vector<float> x(n, 1);
  std::vector<std::string> names;
  std::vector<EValue> inputs;
  std::vector<NamedValue> named;
  for (std::size_t i = 0; i < n; ++i) {
    names.push_back("x" + std::to_string(i));
    inputs.push_back(EValue(TensorView{&x[i], &one, &one, 1, f32}));
  }
  for (std::size_t i = 0; i < n; ++i) named.push_back({names[i], inputs[i]});
  for (int turn = 0; turn < 4; ++turn) {
    const auto outputs = turn == 1 ? session->run("forward", {}, named) : session->run("forward", inputs);
    if (!outputs) return std::puts(to_string(outputs.error()).c_str()), false;
    std::size_t seen = 0;
    for (const Output output : *outputs) {
      if (!output.as<float>()) return false;
      if (turn == 2 && seen % 4 == 0) inputs[seen / 2] = output;  // a buffer's new value as every other input
      ++seen;
    }
    if (seen != 2 * n) return false;
    seen = 0;
    for (const Output output : outputs->mutations()) seen += output.value().is_tensor() ? 1 : 0;
    if (seen != mutations) return false;
  }
  const std::span<const NamedTensor> state = session->state();
  for (std::size_t i = n; i-- > 2;)
    if (*state[state.size() - (n - i)].tensor.view().as<float>() != (i % 2 == 0 ? 16 : 21))
      return std::puts("another sum"), false;
  return true;
}

/// Lowers it, whole or in parts, and runs it.
bool lower_and_run(const ExportedProgram& program, std::size_t n, bool apart, std::size_t mutations) {
  const auto lowered = apart ? to_backend(program, Apart{}) : to_backend<adder>(program);
  if (!lowered) return std::puts(to_string(lowered.error()).c_str()), false;
  return run(*lowered, n, mutations);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view kind = argv[1];
  const auto n = static_cast<std::size_t>(std::atol(argv[2]));
  const bool in_place = kind == "writes" || kind == "in_place", runs = in_place || kind == "state" || kind == "steps";
  const ExportedProgram program = runs                   ? mutations(n, in_place, kind == "in_place")
                                  : kind == "parameters" ? parameters(n)
                                                         : outputs(n);
  if (!verify(program).empty()) return std::puts("refused"), 2;
  if (runs) return lower_and_run(program, n, kind == "steps", kind == "in_place" ? 0 : 2 * n) ? 0 : 2;
  if (kind == "parameters") {
    const auto lowered = to_backend<demo::compiler_demo>(program);
    if (!lowered) return std::puts(to_string(lowered.error()).c_str()), 2;
    if (method_interface(program).inputs.size() != n + 1)
      return std::puts("its interface is not the buffers and the input"), 2;
    return 0;
  }
  using Backends = BackendList<asking>;
  const auto partitioned = CapabilityPartitioner<Backends>().partition({"forward", &program});
  return partitioned && partitioned->tags.names.size() == 1 ? 0 : 2;
}
