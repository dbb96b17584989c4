// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's updates_input would not be called; it must be static bool updates_input(const Handle&, std::size_t input, std::size_t output), beside a prepare with outputs
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
  static bool updates_input(const Handle&, std::size_t input, std::size_t output);
#ifdef ACCEPT
  static davit::Result<std::size_t> prepare(const Handle&, std::span<const davit::EValue> inputs, std::span<const davit::EValue> outputs, std::monostate&);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
