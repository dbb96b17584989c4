// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs static bool is_available();
#include "davit/backend/archetype.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu {
  static constexpr std::string_view name = "npu";
  struct CompileSpec {};
  struct Processed {};
  struct Handle {};
#ifdef ACCEPT
  static bool is_available();
#endif
  static davit::Result<Processed> preprocess(const davit::Method&, const CompileSpec&, davit::DebugHandleRecorder&);
  static davit::Result<Handle> compile(const Processed&, const CompileSpec&);
  template <class Context>
  static davit::Status execute(const Handle&, std::span<const davit::EValue>, std::span<davit::EValue>, Context&);
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend(program, davit::CapabilityPartitioner<davit::BackendList<npu>>()).has_value();
}
