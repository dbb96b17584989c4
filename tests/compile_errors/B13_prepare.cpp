// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's prepare would not be called; it must be static davit::Result<std::size_t> prepare(const Handle&, std::span<const davit::EValue> inputs
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifdef ACCEPT
  static davit::Result<std::size_t> prepare(const Handle&, std::span<const davit::EValue> inputs, std::monostate&);
#else
  static std::size_t prepare(const Handle&, std::span<const davit::EValue> inputs, std::monostate&);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
