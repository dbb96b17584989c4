// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's may_overwrite would not be called; it must be static bool may_overwrite(const Handle&, std::size_t input, std::size_t output), beside a prepare with outputs
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
  static davit::Result<std::size_t> prepare(const Handle&, std::span<const davit::EValue> inputs, std::span<const davit::EValue> outputs, std::monostate&);
#ifdef ACCEPT
  static bool may_overwrite(const Handle&, std::size_t input, std::size_t output);
#else
  static bool may_overwrite(std::size_t input, std::size_t output);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
