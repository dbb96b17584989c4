// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's save would not be called; it needs save, load, save_spec and load_spec
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
  static std::vector<std::byte> save(const Processed&);
#ifdef ACCEPT
  static davit::Result<Processed> load(std::span<const std::byte>);
  static std::vector<std::byte> save_spec(const CompileSpec&);
  static davit::Result<CompileSpec> load_spec(std::span<const std::byte>);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
