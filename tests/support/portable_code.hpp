// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <memory>

#include "davit/backends/portable.hpp"
#include "davit/backends/portable/run_time/code.hpp"

namespace support {

/// Portable's Code of a whole program.
[[nodiscard]] inline std::shared_ptr<const davit::portable_kernels::Code> portable_code(
    const davit::ExportedProgram& program) {
  davit::DebugMap map;
  davit::DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", program.view());
  const auto processed = davit::portable::preprocess(davit::Method{"forward", &program}, {}, recorder);
  REQUIRE(processed);
  const auto code = davit::portable::compile(*processed, {});
  REQUIRE(code);
  return code->code;
}

}  // namespace support
