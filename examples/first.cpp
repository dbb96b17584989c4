// SPDX-License-Identifier: MIT
// README's first program, complete: runs a model that torch.export saved on inputs that numpy saved.
//   first model.pt2 input.npy...
#include <davit/davit.hpp>
#include <davit/formats/npy.hpp>
#include <davit/formats/pt2.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

int fail(const davit::Error& error) {
  std::fprintf(stderr, "%s\n", to_string(error).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: first model.pt2 input.npy...\n"), 1;
  auto program = davit::formats::read_pt2(argv[1]);  // what torch.export.save wrote
  if (!program) return fail(program.error());
  auto lowered = davit::to_backend<davit::portable>(*program);  // the backend is a template argument
  if (!lowered) return fail(lowered.error());

  std::vector<davit::Tensor> tensors;
  std::vector<davit::EValue> inputs;
  for (int i = 2; i < argc; ++i) {
    auto tensor = davit::formats::read_npy(argv[i]);
    if (!tensor) return fail(tensor.error());
    tensors.push_back(*std::move(tensor));
  }
  for (const davit::Tensor& tensor : tensors) inputs.emplace_back(tensor.view());

  auto session = davit::Session::make(*lowered);  // state and working memory
  if (!session) return fail(session.error());
  auto outputs = session->run("forward", inputs);
  if (!outputs) return fail(outputs.error());
  for (const davit::EValue& output : *outputs) {
    if (!output.is_tensor() || output.tensor().dtype != davit::ScalarType::float32) continue;
    const float* numbers = output.tensor().as<float>();
    for (std::int64_t k = 0; k < output.tensor().numel(); ++k)
      std::printf(k == 0 ? "%g" : " %g", static_cast<double>(numbers[k]));
    std::printf("\n");
  }
  return 0;
}
