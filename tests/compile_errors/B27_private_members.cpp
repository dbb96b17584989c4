// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend hides members that the contract names, as those of a class are private; make them public
#include "davit/lowering/to_backend.hpp"

class npu {
#ifdef ACCEPT
 public:
#endif
  static constexpr std::string_view name = "npu";
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
