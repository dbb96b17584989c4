// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs a name: static constexpr std::string_view name = "npu";
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu {
#ifdef ACCEPT
  static constexpr std::string_view name = "npu";
#endif
  struct CompileSpec {};
  struct Processed {};
  struct Handle {};
  static bool is_available();
  static davit::Result<Processed> preprocess(const davit::Method&, const CompileSpec&, davit::DebugHandleRecorder&);
  static davit::Result<Handle> compile(const Processed&, const CompileSpec&);
  template <class Context>
  static davit::Status execute(const Handle&, std::span<const davit::EValue>, std::span<davit::EValue>, Context&);
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
