// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's operator_schema would not be called; it must be static std::string_view operator_schema(std::string_view target)
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifdef ACCEPT
  static std::string_view operator_schema(std::string_view target);
#else
  static const char* operator_schema(std::string_view target);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
