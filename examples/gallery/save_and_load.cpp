// SPDX-License-Identifier: MIT
// Lowers once, saves the package, and runs it from the file. Weights are mapped; nothing is lowered again.
//   save_and_load MODEL.pt2 INPUT.npy PACKAGE.davit
#include <davit/davit.hpp>
#include <davit/formats/npy.hpp>
#include <davit/formats/package.hpp>
#include <davit/formats/pt2.hpp>

#include <cstdio>

namespace {

using Backends = davit::BackendList<davit::portable>;  // backends for both lowering and loading

int fail(const davit::Error& error) { return std::fprintf(stderr, "%s\n", to_string(error).c_str()), 1; }

davit::Result<void> save(const char* model, const char* package) {
  const auto program = davit::formats::read_pt2(model);
  if (!program) return std::unexpected(program.error());
  const auto lowered = davit::to_backend(*program, davit::CapabilityPartitioner<Backends>());
  if (!lowered) return std::unexpected(lowered.error());
  return davit::formats::save_program(*lowered, package);  // atomic: written beside and renamed
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: save_and_load model.pt2 input.npy package.davit\n"), 2;
  if (const auto saved = save(argv[1], argv[3]); !saved) return fail(saved.error());

  const auto loaded = davit::formats::load_program<Backends>(argv[3]);
  if (!loaded) return fail(loaded.error());
  auto session = davit::Session::make(*loaded);
  if (!session) return fail(session.error());
  const auto image = davit::formats::read_npy(argv[2]);
  const auto outputs = session->run("forward", image);
  if (!outputs) return fail(outputs.error());
  const auto scores = (*outputs)[0].as<float>();
  if (!scores) return fail(scores.error());
  std::printf("%zu scores, the first is %g\n", scores->size(), static_cast<double>(scores->front()));
}
