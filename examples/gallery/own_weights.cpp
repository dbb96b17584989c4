// SPDX-License-Identifier: MIT
// A backend with weights: preprocess gets them from constant_of, and they are no inputs of execute. It takes chains of
// linear layers; portable takes the nodes between.
//   own_weights MODEL.pt2 INPUT.npy
#include <davit/davit.hpp>
#include <davit/formats.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

struct linear_layers {
  static constexpr std::string_view name = "linear_layers";
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct CompileSpec {};
  struct Layer {
    std::size_t x, weight, bias, y;
  };  // y = x weight^T + bias, as indices into `values`
  struct Processed {
    std::vector<Layer> layers;
    std::vector<davit::Tensor> values;         // values of the partition: weights, and slots filled by a run
    std::vector<std::size_t> inputs, outputs;  // indices of the inputs and outputs of execute
  };
  using Handle = Processed;
  static constexpr bool is_available() { return true; }
  static const char* refuses(davit::GraphModuleView graph, davit::NodeId id) {
    const davit::Node& node = graph.nodes[id];
    if (graph.target(node) != "aten.linear.default") return "it is no linear layer";
    const davit::Value& y = graph.values[graph.args(node.outputs)[0].value()];
    return y.dtype == davit::ScalarType::float32 ? nullptr : "it is no float32";
  }
  static davit::Result<Processed> preprocess(const davit::Method& method, const CompileSpec&,
                                             davit::DebugHandleRecorder&) {
    const davit::GraphModuleView graph = method.view();
    Processed out{{}, std::vector<davit::Tensor>(graph.values.size()), {}, {}};
    for (const davit::Argument& input : graph.args(graph.root().inputs)) {
      const davit::Tensor* const weight = davit::constant_of(method, input.value());
      if (weight != nullptr)
        out.values[input.value()] = davit::contiguous(weight->view());  // makes any strides contiguous
      if (weight == nullptr) out.inputs.push_back(input.value());
    }
    for (const davit::Node& node : graph.nodes) {
      const davit::Argument* const bias = graph.find_input(node, "bias");
      const std::span<const davit::Argument> inputs = graph.args(node.inputs);
      const std::size_t b = bias != nullptr && bias->is_value() ? bias->value() : none;
      out.layers.push_back({inputs[0].value(), inputs[1].value(), b, graph.args(node.outputs)[0].value()});
    }
    for (const davit::Argument& output : graph.args(graph.root().outputs)) out.outputs.push_back(output.value());
    return out;
  }
  static davit::Result<Handle> compile(const Processed& processed, const CompileSpec&) { return processed; }
  using Workspace = std::vector<davit::Tensor>;  // per session
  template <class Context>
  static davit::Status execute(const Handle& handle, std::span<const davit::EValue> inputs,
                               std::span<davit::EValue> outputs, Context& context) {
    Workspace& values = context.workspace();
    if (values.empty()) values = handle.values;  // shares the weights' memory
    for (std::size_t i = 0; i < inputs.size(); ++i) values[handle.inputs[i]] = davit::contiguous(inputs[i].tensor());
    for (const Layer& layer : handle.layers) {
      const davit::Tensor &x = values[layer.x], &weight = values[layer.weight];
      std::vector<std::int64_t> sizes = x.sizes;
      const std::int64_t in = std::exchange(sizes.back(), weight.sizes[0]), out = weight.sizes[0];
      davit::Tensor y = davit::Tensor::zeros(davit::ScalarType::float32, sizes);
      const float *row = x.view().as<float>(), *w = weight.view().as<float>(),
                  *b = layer.bias == none ? nullptr : values[layer.bias].view().as<float>();
      float* to = y.view().as<float>();
      for (std::int64_t r = 0; r * out < y.numel(); ++r, row += in)
        for (std::int64_t o = 0; o < out; ++o, ++to) {
          *to = b == nullptr ? 0 : b[o];
          for (std::int64_t i = 0; i < in; ++i) *to += row[i] * w[o * in + i];
        }
      values[layer.y] = std::move(y);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = values[handle.outputs[i]].view();
    return {};
  }
};
static_assert(davit::check_backend<linear_layers>());
}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: own_weights model.pt2 input.npy\n"), 2;
  const auto program = davit::value_or_exit(davit::formats::read_pt2(argv[1]));
  const davit::CapabilityPartitioner<davit::BackendList<linear_layers, davit::portable>> partitioner;
  auto session =
      davit::value_or_exit(davit::Session::make(davit::value_or_exit(davit::to_backend(program, partitioner))));
  const auto outputs = davit::value_or_exit(session.run("forward", davit::formats::read_npy(argv[2])));
  const auto own = std::ranges::count(session.program().methods()[0].delegates, 0u, &davit::LoweredDelegate::backend);
  const double first = static_cast<double>(davit::value_or_exit(outputs[0].as<float>())[0]);
  std::printf("%td parts with weights; the first score is %g\n", own, first);
}
