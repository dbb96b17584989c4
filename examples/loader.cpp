// SPDX-License-Identifier: MIT
// Runs a package that davit lowered elsewhere, on kernels for floats alone: nothing here reads or lowers .pt2 files.
//   davit lower model.pt2 -o model.davit && loader model.davit < numbers.txt
#include <davit/backends/portable.hpp>
#include <davit/core/value_or_exit.hpp>
#include <davit/formats/package.hpp>
#include <davit/runtime/session.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

// `davit operators --groups model.davit` prints the type that a model needs
using Backends = davit::BackendList<davit::portable_of<davit::ops::float_inference>>;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: loader model.davit < numbers.txt\n"), 2;
  using davit::value_or_exit;
  const auto program = value_or_exit(davit::formats::load_program<Backends>(argv[1]));  // weights are mapped
  auto session = value_or_exit(davit::Session::make(program));
  std::vector<davit::Tensor> tensors;
  for (const davit::InputPort& port : program.methods()[0].interface.inputs) {
    if (port.role != davit::InputRole::user) continue;
    std::vector<std::int64_t> sizes;
    for (const davit::Dim& dim : port.type.dims) sizes.push_back(dim.value);
    tensors.push_back(davit::Tensor::zeros(davit::ScalarType::float32, sizes));
    float* const to = tensors.back().view().as<float>();
    for (std::int64_t i = 0; i < tensors.back().numel(); ++i)
      if (std::scanf("%f", to + i) != 1) return std::fprintf(stderr, "loader: too few numbers\n"), 2;
  }
  const std::vector<davit::EValue> inputs(tensors.begin(), tensors.end());
  const auto outputs = value_or_exit(session.run(program.methods()[0].name, inputs));
  for (float score : value_or_exit(outputs[0].as<float>())) std::printf("%g\n", static_cast<double>(score));
}
