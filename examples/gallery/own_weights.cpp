// SPDX-License-Identifier: MIT
// A backend that has weights: preprocess asks constant_of for them and lays them out for its kernel, and they are no inputs of execute.
// This one takes linear layers, several in a row if they follow one another; portable takes what is between.
//   own_weights MODEL.pt2 INPUT.npy
#include <davit/davit.hpp>
#include <davit/formats.hpp>

#include <cstddef>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

/// A copy with its elements side by side.
davit::Tensor dense(const davit::TensorView& from) {
  davit::Tensor copy = davit::Tensor::zeros(from.dtype, from.sizes());
  davit::copy_tensor(from, copy.view());
  return copy;
}

struct linear_layers {
  static constexpr std::string_view name = "linear_layers";
  struct CompileSpec {};
  struct Layer {
    std::size_t from = 0, to = 0;  // values of the partition
    davit::Tensor weight, bias;    // (outputs, inputs); (outputs), or nothing
  };
  struct Processed {
    std::vector<Layer> layers;
    std::size_t values = 0;
    std::vector<std::size_t> inputs, outputs;  // which values execute gets and answers
  };
  using Handle = Processed;

  static constexpr bool is_available() { return true; }
  static const char* refuses(davit::GraphModuleView graph, davit::NodeId id) {
    const davit::Node& node = graph.nodes[id];
    if (graph.target(node) != "aten.linear.default") return "it is no linear layer";
    if (graph.values[graph.args(node.outputs)[0].value()].dtype != davit::ScalarType::float32) return "it is no float32";
    const auto known = [&](std::size_t i) { return i >= graph.args(node.inputs).size() || graph.constant[graph.args(node.inputs)[i].value()] != 0; };
    return known(1) && known(2) ? nullptr : "its weights come from elsewhere";
  }
  static davit::Result<Processed> preprocess(const davit::Method& method, const CompileSpec&, davit::DebugHandleRecorder&) {
    const davit::GraphModuleView graph = method.view();
    Processed out{.values = graph.values.size()};
    for (const davit::Node& node : graph.nodes) {
      const davit::Argument* const bias = graph.find_input(node, "bias");
      const davit::Tensor* const weight = davit::constant_of(method, graph.args(node.inputs)[1].value());
      if (weight == nullptr) return std::unexpected(davit::Error{.stage = davit::Stage::preprocess, .what = "a weight is no constant"});
      Layer& layer = out.layers.emplace_back(graph.args(node.inputs)[0].value(), graph.args(node.outputs)[0].value(), dense(weight->view()));
      if (bias != nullptr && bias->is_value()) layer.bias = dense(davit::constant_of(method, bias->value())->view());
    }
    for (const davit::Argument& input : graph.args(graph.root().inputs))
      if (davit::constant_of(method, input.value()) == nullptr) out.inputs.push_back(input.value());
    for (const davit::Argument& output : graph.args(graph.root().outputs)) out.outputs.push_back(output.value());
    return out;
  }
  static davit::Result<Handle> compile(const Processed& processed, const CompileSpec&) { return processed; }

  using Workspace = std::vector<davit::Tensor>;  // a session's
  template <class Context>
  static davit::Status execute(const Handle& handle, std::span<const davit::EValue> inputs, std::span<davit::EValue> outputs, Context& context) {
    Workspace& values = context.workspace();
    values.resize(handle.values);
    for (std::size_t i = 0; i < inputs.size(); ++i) values[handle.inputs[i]] = dense(inputs[i].tensor());
    for (const Layer& layer : handle.layers) {
      const davit::Tensor& x = values[layer.from];
      std::vector<std::int64_t> sizes = x.sizes;
      const std::int64_t in = std::exchange(sizes.back(), layer.weight.sizes[0]), out = layer.weight.sizes[0];
      davit::Tensor y = davit::Tensor::zeros(davit::ScalarType::float32, sizes);
      const float *row = x.view().as<float>(), *w = layer.weight.view().as<float>(), *b = layer.bias.view().as<float>();
      float* to = y.view().as<float>();
      for (std::int64_t r = 0; r * out < y.numel(); ++r, row += in)
        for (std::int64_t o = 0; o < out; ++o, ++to) {
          *to = b == nullptr ? 0 : b[o];
          for (std::int64_t i = 0; i < in; ++i) *to += row[i] * w[o * in + i];
        }
      values[layer.to] = std::move(y);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = values[handle.outputs[i]].view();
    return {};
  }
};
static_assert(davit::check_backend<linear_layers>());

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: own_weights model.pt2 input.npy\n"), 2;
  using davit::value_or_exit;
  const auto program = value_or_exit(davit::formats::read_pt2(argv[1]));
  const davit::CapabilityPartitioner<davit::BackendList<linear_layers, davit::portable>> partitioner;
  auto session = value_or_exit(davit::Session::make(value_or_exit(davit::to_backend(program, partitioner))));
  const auto outputs = value_or_exit(session.run("forward", davit::formats::read_npy(argv[2])));
  std::size_t own = 0;
  for (const davit::LoweredDelegate& delegate : session.program().methods()[0].delegates) own += delegate.backend == 0 ? 1 : 0;
  std::printf("%zu parts with weights; the first score is %g\n", own, static_cast<double>(value_or_exit(outputs[0].as<float>())[0]));
}
