// SPDX-License-Identifier: MIT
// A list of backends by preference: each region goes to the first backend that takes it, and the report gives the
// reasons.
//   several_backends MODEL.pt2 INPUT.npy
#include <davit/davit.hpp>
#include <davit/formats/npy.hpp>
#include <davit/formats/pt2.hpp>
#include <davit/lowered/print_report.hpp>
#if defined(DAVIT_WITH_ONEDNN)
#include <davit/backends/onednn.hpp>
using Backends = davit::BackendList<davit::onednn, davit::portable>;
#else
using Backends = davit::BackendList<davit::portable>;
#endif

#include <cstdio>
#include <string>

namespace {

int fail(const davit::Error& error) { return std::fprintf(stderr, "%s\n", to_string(error).c_str()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: several_backends model.pt2 input.npy\n"), 2;
  const auto program = davit::formats::read_pt2(argv[1]);
  if (!program) return fail(program.error());
  davit::Diagnostics diagnostics;
  const auto lowered = davit::to_backend(*program, davit::CapabilityPartitioner<Backends>(), {}, &diagnostics);
  if (!lowered) return fail(lowered.error());
  for (const davit::LoweredDelegate& delegate : lowered->methods()[0].delegates)
    std::printf("partition %s on %s\n", std::string(delegate.tag.view()).c_str(),
                std::string(lowered->backends()[delegate.backend].name).c_str());
  auto session = davit::Session::make(*lowered);
  if (!session) return fail(session.error());
  const auto image = davit::formats::read_npy(argv[2]);
  const auto outputs = session->run("forward", image);
  if (!outputs) return fail(outputs.error());
  const auto scores = (*outputs)[0].as<float>();
  if (!scores) return fail(scores.error());
  std::printf("%zu scores, the first is %g\n", scores->size(), static_cast<double>(scores->front()));
}
