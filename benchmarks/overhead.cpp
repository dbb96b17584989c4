// SPDX-License-Identifier: MIT
// What one execute of a lowered one-node add costs beyond the backend's own body. Run by benchmarks/overhead.sh, which
// counts instructions: overhead MODE COUNT, with MODE body, dynamic, plain, typed, or the number of partitions of a
// program of no-op delegate calls.

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "davit/implementation.hpp"
#include "davit/lowering.hpp"
#include "davit/runtime.hpp"
#include "programs.hpp"

namespace {

using namespace davit;

/// A backend whose execute is one addition of 1-element tensors.
struct adder {
  static constexpr std::string_view name = "adder";
  struct CompileSpec {};
  struct Processed {};
  struct Handle {};
  static constexpr bool is_available() { return true; }
  static Result<Processed> preprocess(const Method&, const CompileSpec&, DebugHandleRecorder&) { return Processed{}; }
  static Result<Handle> compile(const Processed&, const CompileSpec&) { return Handle{}; }
  template <class Context>
  [[gnu::noinline]] static Status execute(const Handle&, std::span<const EValue> inputs, std::span<EValue> outputs,
                                          Context&) {
    static float result;  // the dynamic interface plans no destination
    if (outputs[0].is_none())
      outputs[0] = EValue(
          TensorView{&result, inputs[0].tensor().sizes_data, inputs[0].tensor().strides_data, 1, ScalarType::float32});
    *outputs[0].tensor().template as<float>() =
        *inputs[0].tensor().template as<float>() + *inputs[1].tensor().template as<float>();
    return {};
  }
};

/// A backend without work: its output is its input.
template <int number>
struct no_op : adder {
  static constexpr std::string_view name = number == 0 ? "no_op_0" : "no_op_1";
  static const char* refuses(GraphModuleView graph, NodeId node) {
    return graph.target(graph.nodes[node]) == (number == 0 ? "aten.neg.default" : "aten.abs.default")
               ? nullptr
               : "another operator";
  }
  template <class Context>
  static Status execute(const Handle&, std::span<const EValue> inputs, std::span<EValue> outputs, Context&) {
    outputs[0] = inputs[0];
    return {};
  }
};

/// Runs a program of that many consecutive delegate calls, each with one input and one output.
[[nodiscard]] bool run_partitions(std::size_t partitions, long count, std::span<const EValue> inputs) {
  const auto lowered =
      to_backend(benchmarks::neg_abs_chain(partitions), CapabilityPartitioner<BackendList<no_op<0>, no_op<1>>>());
  if (!lowered) return std::puts(to_string(lowered.error()).c_str()), false;
  Session session = *Session::make(*lowered);
  for (long i = 0; i < count; ++i)
    if (!session.run(std::size_t{0}, inputs)) return false;
  return true;
}

using Float = StaticTensor<float, 1>;

/// The same body for the typed interface, where it can be inlined.
struct inline_adder : adder {
  template <class Context>
  static Status execute(const Handle&, std::span<const EValue> inputs, std::span<EValue> outputs, Context&) {
    *outputs[0].tensor().template as<float>() =
        *inputs[0].tensor().template as<float>() + *inputs[1].tensor().template as<float>();
    return {};
  }
};
using InlineTyped = TypedMethod<inline_adder, std::tuple<Float>(Float, Float)>;

[[gnu::noinline]] Status typed_call(InlineTyped& method, Float x, Float h, Float y) { return method(x, h, y); }
[[gnu::noinline]] Status plain_call(const void*, const float* x, const float* h, float* y) {
  *y = *x + *h;
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: overhead body|dynamic|plain|typed|PARTITIONS COUNT"), 2;
  const std::string_view mode = argv[1];
  const long count = std::atol(argv[2]);
  const ExportedProgram program = benchmarks::add_sub_chain(1);
  auto lowered = to_backend<adder>(program);
  auto inlined = to_backend<inline_adder>(program);
  if (!lowered || !inlined) return std::puts("lowering failed"), 2;
  Session session = *Session::make(*lowered);
  auto typed = InlineTyped::bind(*inlined, "forward");
  if (!typed) return std::puts(to_string(typed.error()).c_str()), 2;

  float x = 1;
  float h = 2;
  float y = 0;
  const std::int64_t one = 1;
  EValue inputs[] = {TensorView{&x, &one, &one, 1, ScalarType::float32},
                     TensorView{&h, &one, &one, 1, ScalarType::float32}};
  bool good = true;
  if (mode == "body") {
    NullTracer tracer;
    TextReport report;
    std::monostate workspace;
    ExecuteContext<NullTracer, TextReport> context(tracer, report, workspace);
    for (long i = 0; i < count; ++i) {
      EValue outputs[1];
      good = adder::execute({}, inputs, outputs, context).has_value() && good;
    }
  } else if (mode == "dynamic") {
    for (long i = 0; i < count; ++i) good = session.run(std::size_t{0}, inputs).has_value() && good;
  } else if (mode == "plain") {
    for (long i = 0; i < count; ++i) good = plain_call(&*typed, &x, &h, &y).has_value() && good;
  } else if (mode == "typed") {
    for (long i = 0; i < count; ++i) good = typed_call(*typed, {&x}, {&h}, {&y}).has_value() && good;
  } else {
    good = run_partitions(static_cast<std::size_t>(std::atol(argv[1])), count, std::span(inputs, 1));
  }
  return good ? 0 : 1;
}
