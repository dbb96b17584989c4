// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs a type Handle, what compile makes on the target: struct Handle {};
#include "davit/lowering/to_backend.hpp"

struct Spec {};
struct Blob {};
struct Loaded {};

struct npu {
  static constexpr std::string_view name = "npu";
  using CompileSpec = Spec;
  using Processed = Blob;
#ifdef ACCEPT
  using Handle = Loaded;
#endif
  static bool is_available();
  static davit::Result<Blob> preprocess(const davit::Method&, const Spec&, davit::DebugHandleRecorder&);
  static davit::Result<Loaded> compile(const Blob&, const Spec&);
  template <class Context>
  static davit::Status execute(const Loaded&, std::span<const davit::EValue>, std::span<davit::EValue>, Context&);
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
