// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's scratch_bytes would not be called; it must be static std::size_t scratch_bytes(const Processed&)
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifdef ACCEPT
  static std::size_t scratch_bytes(const Processed&);
#else
  static std::size_t scratch_bytes(const Handle&);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
