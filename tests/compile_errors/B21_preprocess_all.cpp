// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: this backend's preprocess_all would not be called; it must be static davit::Result<std::vector<Processed>> preprocess_all(std::span<const davit::Method>, std::span<const CompileSpec>, davit::DebugHandleRecorder&), beside preprocess
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"

struct npu : davit::archetype::backend {
#ifdef ACCEPT
  static davit::Result<std::vector<Processed>> preprocess_all(std::span<const davit::Method>, std::span<const CompileSpec>, davit::DebugHandleRecorder&);
#else
  static davit::Result<std::vector<Processed>> preprocess_all(std::span<const davit::Method>, const CompileSpec&, davit::DebugHandleRecorder&);
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<npu>(program).has_value();
}
