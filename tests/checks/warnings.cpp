// SPDX-License-Identifier: MIT
// A user's program for tests/checks/warnings: includes every umbrella header and instantiates its templates.
#include <array>
#include <cstdio>

#include "davit/backends/portable/embed.hpp"
#include "davit/davit.hpp"
#include "davit/embed.hpp"
#include "davit/formats/implementation.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/implementation.hpp"
#include "davit/testing.hpp"
#if __has_include(<oneapi/dnnl/dnnl.hpp>)
#include "davit/backends/onednn.hpp"
#include "davit/backends/onednn/implementation.hpp"
#endif
#if __has_include(<xnnpack.h>)
#include "davit/backends/xnnpack.hpp"
#include "davit/backends/xnnpack/implementation.hpp"
#endif
#include "digits_mlp_b1.hpp"

namespace {

using Backends = davit::BackendList<
#if __has_include(<xnnpack.h>)
    davit::xnnpack,
#endif
#if __has_include(<oneapi/dnnl/dnnl.hpp>)
    davit::onednn,
#endif
    davit::portable>;

[[nodiscard]] int failed(const davit::Error& error) {
  std::puts(to_string(error).c_str());
  return 1;
}

}  // namespace

int main(int count, char** files) {
  if (count != 4) return 2;
  const auto program = davit::formats::read_pt2(files[1]);
  if (!program) return failed(program.error());
  const auto lowered = davit::to_backend(*program, davit::CapabilityPartitioner<Backends>());
  if (!lowered) return failed(lowered.error());
  if (const auto saved = davit::formats::save_program(*lowered, files[3]); !saved) return failed(saved.error());
  const auto loaded = davit::formats::load_program<Backends>(files[3]);
  if (!loaded) return failed(loaded.error());
  auto session = davit::Session::make(*loaded);
  if (!session) return failed(session.error());
  const auto outputs = session->run("forward", davit::formats::read_npy(files[2]));
  if (!outputs) return failed(outputs.error());
  const auto copy = (*outputs)[0].clone();
  if (!copy) return failed(copy.error());

  davit::static_module<digits_mlp_b1, davit::portable> module;
  const std::array<float, 64> pixels{};
  std::array<float, 10> scores{};
  return module.forward(pixels, scores) ? 0 : 1;
}
