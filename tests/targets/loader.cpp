// SPDX-License-Identifier: MIT
// Loads a package and runs it: the program whose size the table of targets states, without a reader of .pt2 files or
// lowering. It prints the classes of the first twelve images.
//   loader PACKAGE.davit IMAGES.npy
#include <davit/backends/portable.hpp>
#include <davit/formats/npy.hpp>
#include <davit/formats/package.hpp>
#include <davit/runtime/session.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace {

int fail(const davit::Error& error) { return std::printf("%s\n", to_string(error).c_str()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: loader package.davit images.npy\n"), 2;
  const auto loaded = davit::formats::load_program<davit::BackendList<davit::portable>>(argv[1]);
  if (!loaded) return fail(loaded.error());
  auto session = davit::Session::make(*loaded);
  if (!session) return fail(session.error());
  const auto images = davit::formats::read_npy(argv[2]);
  if (!images) return fail(images.error());
  const auto outputs = session->run("forward", images);
  if (!outputs) return fail(outputs.error());
  const auto scores = (*outputs)[0].as<float>();
  if (!scores) return fail(scores.error());
  std::printf("loader:");
  for (std::size_t i = 0; i < 12; ++i) {
    const auto row = scores->subspan(10 * i, 10);
    std::printf(" %td", std::max_element(row.begin(), row.end()) - row.begin());
  }
  std::printf("\n");
}
