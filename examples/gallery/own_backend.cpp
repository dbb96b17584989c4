// SPDX-License-Identifier: MIT
// A backend is a type. This one takes relu and refuses everything else. The compiler checks its contract; the law suite
// checks its behaviour on those parts of a real program that it takes.
//   own_backend MODEL.pt2
#include <davit/autotune/synthetic_inputs.hpp>
#include <davit/davit.hpp>
#include <davit/formats/pt2.hpp>
#include <davit/testing/backend_laws.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

namespace {

struct rectifier {
  static constexpr std::string_view name = "rectifier";
  struct CompileSpec {};
  struct Processed {  // result of preprocess, ahead of time: input index of each output
    std::vector<std::size_t> inputs;
  };
  using Handle = Processed;  // result of compile, at run time

  static constexpr bool is_available() { return true; }
  static const char* refuses(davit::GraphModuleView graph, davit::NodeId id) {
    const davit::Node& node = graph.nodes[id];
    if (graph.target(node) != "aten.relu.default") return "it is no relu";
    return graph.values[graph.args(node.outputs)[0].value()].dtype == davit::ScalarType::float32 ? nullptr
                                                                                                 : "it is no float32";
  }
  // (relu of relu is relu: a chain of relus is a single relu of the chain's input)
  static davit::Result<Processed> preprocess(const davit::Method& method, const CompileSpec&,
                                             davit::DebugHandleRecorder&) {
    const davit::GraphModuleView graph = method.program->view();
    std::vector<std::size_t> from(graph.values.size());
    const auto inputs = graph.args(graph.root().inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) from[inputs[i].value()] = i;
    for (const davit::Node& node : graph.nodes)
      from[graph.args(node.outputs)[0].value()] = from[graph.args(node.inputs)[0].value()];
    Processed out;
    for (const davit::Argument& output : graph.args(graph.root().outputs)) out.inputs.push_back(from[output.value()]);
    return out;
  }
  static davit::Result<Handle> compile(const Processed& processed, const CompileSpec&) { return processed; }

  struct Workspace {  // state of a session
    std::vector<davit::Tensor> results;
  };
  template <class Context>
  static davit::Status execute(const Handle& handle, std::span<const davit::EValue> inputs,
                               std::span<davit::EValue> outputs, Context& context) {
    auto& results = context.workspace().results;
    results.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      results[i] = davit::contiguous(inputs[handle.inputs[i]].tensor());  // an input may have any strides
      float* const y = results[i].view().template as<float>();
      std::ranges::transform(y, y + results[i].numel(), y, [](float x) { return x < 0 ? 0 : x; });
      outputs[i] = results[i].view();
    }
    return {};
  }
};
static_assert(davit::check_backend<rectifier>());

int fail(const davit::Error& error) { return std::fprintf(stderr, "%s\n", to_string(error).c_str()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: own_backend model.pt2\n"), 2;
  const auto program = davit::formats::read_pt2(argv[1]);
  if (!program) return fail(program.error());
  using Backends = davit::BackendList<rectifier, davit::portable>;
  const auto lowered = davit::to_backend(*program, davit::CapabilityPartitioner<Backends>(), {.keep_originals = true});
  if (!lowered) return fail(lowered.error());

  std::size_t parts = 0;
  std::size_t broken = 0;
  for (const davit::LoweredDelegate& delegate : lowered->methods()[0].delegates) {
    if (delegate.backend != 0) continue;
    ++parts;
    const auto inputs = davit::synthetic_inputs(*delegate.original);
    if (!inputs) return fail(inputs.error());
    const std::vector<davit::testing::SampleInputs> samples{inputs->values};
    davit::testing::check_backend_laws<rectifier>(*delegate.original, {}, samples,
                                                  [&](std::string_view law, std::string_view what) {
                                                    std::printf("broken: %.*s: %.*s\n", static_cast<int>(law.size()),
                                                                law.data(), static_cast<int>(what.size()), what.data());
                                                    ++broken;
                                                  });
  }
  std::printf("%zu parts of the program are the rectifier's; %zu laws are broken\n", parts, broken);
  return parts != 0 && broken == 0 ? 0 : 1;
}
