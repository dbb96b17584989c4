// SPDX-License-Identifier: MIT
#pragma once

#include "davit/program/exported_program.hpp"
#include "support/draft.hpp"

namespace support {

/// tanh(x) of s0 elements.
[[nodiscard]] inline davit::ExportedProgram tanh_of_any_size() {
  Draft d;
  const davit::ExprId s0 = d.b.symbol("s0");
  const davit::ValueId x = d.user("x", s0);
  const davit::ValueId y = d.sized("y", s0);
  const davit::Argument in = davit::GraphBuilder::value(x), out = davit::GraphBuilder::value(y);
  d.b.node("aten.tanh.default", {&in, 1}, {&out, 1}, d.metadata);
  d.output(y);
  return d.finish();
}

}  // namespace support
