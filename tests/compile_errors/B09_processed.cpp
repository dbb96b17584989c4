// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs a type Processed, what preprocess makes and what ships: struct Processed {};
#include "davit/lowering/to_backend.hpp"

struct Spec {};
struct Blob {};
struct Loaded {};

struct npu {
  static constexpr std::string_view name = "npu";
  using CompileSpec = Spec;
#ifdef ACCEPT
  using Processed = Blob;
#endif
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
