// SPDX-License-Identifier: MIT
// The host tool that the accelerator's vendor ships. It writes a model for static_module, as `davit embed` does, and
// compiles the nodes that the accelerator takes. A davit built with -Duser_backends does the same: `davit embed
// --backends npu`.
//   npu_embed MODEL.pt2 NAME FOLDER
#include <davit/formats/embed_delegates.hpp>
#include <davit/formats/embed_program.hpp>
#include <davit/formats/mapped_file.hpp>
#include <davit/formats/pt2.hpp>
#include <davit/lowering/prepare_program.hpp>

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "npu_compiler.hpp"

namespace {

davit::Result<void> embed(const std::string& model, const std::string& name, const std::string& folder) {
  using Backends = davit::BackendList<npu_compiler>;
  const auto program = davit::formats::read_pt2(model);
  if (!program) return std::unexpected(program.error());
  auto prepared = davit::prepare_program(*program, {.backends = Backends::tables()});
  if (!prepared) return std::unexpected(prepared.error());
  const davit::ExportedProgram& whole = *prepared ? **prepared : *program;
  const auto delegated = davit::formats::embed_delegates(whole, davit::CapabilityPartitioner<Backends>());
  if (!delegated) return std::unexpected(delegated.error());
  const auto embedded = davit::formats::embed_program(*delegated, {.name = name});
  if (!embedded) return std::unexpected(embedded.error());
  if (auto written = davit::formats::write_file(folder + "/" + name + ".hpp", std::string_view(embedded->header));
      !written)
    return written;
  return davit::formats::write_file(folder + "/" + name + ".bin", std::span<const std::byte>(embedded->blob));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: npu_embed model.pt2 name folder\n"), 2;
  const auto done = embed(argv[1], argv[2], argv[3]);
  if (!done) return std::fprintf(stderr, "%s\n", to_string(done.error()).c_str()), 1;
}
