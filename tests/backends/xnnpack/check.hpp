// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "davit/backends/xnnpack/op_table.hpp"
#include "davit/testing/compare.hpp"
#include "support/net_programs.hpp"

/// Helpers of the tests of the backend's parts; they are defined beside the backend's own tests.
namespace xnnpack_check {

/// Describes differences of XNNPACK's outputs from portable's, and broken laws; empty if there are none.
[[nodiscard]] std::string faults(const davit::ExportedProgram& program, const std::vector<davit::EValue>& sample,
                                 davit::testing::Tolerance tolerance = {1e-4, 1e-5}, bool int8_kernels = false);

/// The outputs of a program, copied; empty if it does not run.
[[nodiscard]] std::vector<davit::Tensor> outputs(const davit::ExportedProgram& program,
                                                 const std::vector<davit::EValue>& sample, bool int8_kernels = false);

/// The steps of a program.
[[nodiscard]] inline std::vector<davit::xnnpack_parts::Op> steps(const davit::ExportedProgram& program,
                                                                 bool int8_kernels = false) {
  davit::DebugMap map;
  const davit::Method method{"forward", &program};
  davit::DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", program.view());
  const auto body = davit::make_program_body(method, "xnnpack", recorder);
  std::vector<davit::xnnpack_parts::Op> ops;
  if (!body) return ops;
  const auto plan = davit::xnnpack_parts::make_plan(**body, int8_kernels);
  if (plan)
    for (const davit::xnnpack_parts::Step& step : plan->steps) ops.push_back(step.op);
  return ops;
}

/// The reason why the last node of a program is refused; "" if it is taken.
[[nodiscard]] inline std::string reason(const davit::ExportedProgram& program) {
  const auto last = static_cast<davit::NodeId>(program.view().nodes.size() - 1);
  const char* why = davit::xnnpack_parts::refuses(program.view(), last);
  return why == nullptr ? "" : why;
}

[[nodiscard]] inline davit::Argument real(double v) { return davit::GraphBuilder::real(v); }

}  // namespace xnnpack_check
