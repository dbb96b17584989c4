// SPDX-License-Identifier: MIT
// README's first program.
#include <davit/davit.hpp>
#include <davit/formats.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: first model.pt2 input.npy\n"), 2;
  using davit::value_or_exit;  // of a std::expected: the value, or prints the Error and exits
  auto program = value_or_exit(davit::formats::read_pt2(argv[1]));            // a file of torch.export.save
  auto lowered = value_or_exit(davit::to_backend<davit::portable>(program));  // the backend is a template argument
  auto session = value_or_exit(davit::Session::make(lowered));                // state and working memory
  auto image = value_or_exit(davit::formats::read_npy(argv[2]));
  auto outputs = value_or_exit(session.run("forward", image));
  auto scores = value_or_exit(outputs[0].as<float>());  // a std::span, or an Error for another dtype
  for (float score : scores) std::printf("%g\n", static_cast<double>(score));
}
