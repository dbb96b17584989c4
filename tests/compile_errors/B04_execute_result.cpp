// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend's execute(handle, inputs, outputs, context) must return davit::Status
#include "davit/backend/archetype.hpp"
#include "davit/lowering/named_module.hpp"

struct npu : davit::archetype::backend {
#ifndef ACCEPT
  template <class Context>
  static bool execute(const Handle&, std::span<const davit::EValue>, std::span<davit::EValue>, Context&);
#endif
};

using namespace davit::literals;
bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program, "forward"_s).has_value();
}
