// SPDX-License-Identifier: MIT
// The digits network in libtorch: `libtorch write FILE` saves it as TorchScript, `libtorch FILE` loads and runs it
// once.
#include <torch/script.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  torch::NoGradGuard no_grad;
  if (argc == 3) {
    torch::jit::Module model("digits");
    const auto weight = [&](const char* name, at::IntArrayRef sizes) {
      model.register_parameter(name, torch::rand(sizes) * 0.1, false);
    };
    weight("w1", {8, 1, 3, 3});
    weight("w2", {16, 8, 3, 3});
    weight("w3", {10, 64});
    for (const char* name : {"scale", "shift", "mean", "var"}) weight(name, {8});
    model.define(R"(
def forward(self, x):
    x = torch.conv2d(x, self.w1, None, [1, 1], [1, 1])
    x = torch.relu(torch.batch_norm(x, self.scale, self.shift, self.mean, self.var, False, 0.1, 1e-05, False))
    x = torch.relu(torch.conv2d(torch.max_pool2d(x, [2, 2]), self.w2, None, [1, 1], [1, 1]))
    return torch.matmul(torch.flatten(torch.avg_pool2d(x, [2, 2]), 1), self.w3.t())
)");
    model.save(argv[2]);
    return 0;
  }
  torch::jit::Module model = torch::jit::load(argv[1]);
  const at::Tensor scores = model.forward({torch::zeros({1, 1, 8, 8})}).toTensor();
  for (int i = 0; i < 10; ++i) std::printf("%g\n", scores.data_ptr<float>()[i]);
}
