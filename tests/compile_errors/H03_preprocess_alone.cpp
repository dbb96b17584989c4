// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs a name: static constexpr std::string_view name = "npu";
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

#ifdef ACCEPT
struct B : davit::archetype::runtime_backend {
#else
struct B {
  struct CompileSpec {};
  struct Processed {};
#endif
  static davit::Result<Processed> preprocess(const davit::Method&, const CompileSpec&, davit::DebugHandleRecorder&);
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<B>(program).has_value();
}
