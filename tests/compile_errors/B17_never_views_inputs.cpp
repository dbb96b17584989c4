// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's never_views_inputs would not be read; it must be static constexpr bool never_views_inputs = true;
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifdef ACCEPT
  static constexpr bool never_views_inputs = true;
#else
  static bool never_views_inputs();
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
