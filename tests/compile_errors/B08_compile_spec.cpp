// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs a type CompileSpec, what its user may ask for: struct CompileSpec {};
#include "davit/lowering/to_backend.hpp"

struct Spec {};
struct Blob {};
struct Loaded {};

struct npu {
  static constexpr std::string_view name = "npu";
#ifdef ACCEPT
  using CompileSpec = Spec;
#endif
  using Processed = Blob;
  using Handle = Loaded;
  static bool is_available();
  static davit::Result<Blob> preprocess(const davit::Method&, const Spec&, davit::DebugHandleRecorder&);
  static davit::Result<Loaded> compile(const Blob&, const Spec&);
  template <class Context>
  static davit::Status execute(const Loaded&, std::span<const davit::EValue>, std::span<davit::EValue>, Context&);
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
