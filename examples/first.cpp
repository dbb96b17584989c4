// SPDX-License-Identifier: MIT
// README's first program.
#include <davit/davit.hpp>
#include <davit/formats/npy.hpp>
#include <davit/formats/pt2.hpp>

#include <cstdio>

int fail(const davit::Error& error) { return std::fprintf(stderr, "%s\n", to_string(error).c_str()), 1; }

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: first model.pt2 input.npy\n"), 2;
  auto program = davit::formats::read_pt2(argv[1]);             // what torch.export.save wrote
  if (!program) return fail(program.error());
  auto lowered = davit::to_backend<davit::portable>(*program);  // the backend is a template argument
  if (!lowered) return fail(lowered.error());
  auto session = davit::Session::make(*lowered);                // state and working memory
  if (!session) return fail(session.error());
  auto image = davit::formats::read_npy(argv[2]);
  auto outputs = session->run("forward", image);
  if (!outputs) return fail(outputs.error());                   // a std::expected: outputs, or what does not fit
  auto scores = (*outputs)[0].as<float>();                      // a std::span, or an Error if these are no floats
  if (!scores) return fail(scores.error());
  for (float score : *scores) std::printf("%g\n", static_cast<double>(score));
}
