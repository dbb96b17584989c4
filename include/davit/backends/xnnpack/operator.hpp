// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <memory>
#include <string_view>

namespace davit::xnnpack_parts {

struct DeleteOperator {
  void operator()(xnn_operator* op) const noexcept { (void)xnn_delete_operator(op); }
};
using Operator = std::unique_ptr<xnn_operator, DeleteOperator>;

/// An operator for some of a step's output channels, and where those lie.
struct OperatorPart {
  Operator op;
  std::size_t offset = 0;  ///< bytes
};

[[nodiscard]] inline std::string_view name_of(xnn_status status) noexcept {
  switch (status) {
    case xnn_status_success: return "no operator";
    case xnn_status_uninitialized: return "the library is not initialized";
    case xnn_status_invalid_parameter: return "invalid parameter";
    case xnn_status_unsupported_parameter: return "unsupported parameter";
    case xnn_status_unsupported_hardware: return "unsupported hardware";
    case xnn_status_out_of_memory: return "out of memory";
    default: return "failed";
  }
}

}  // namespace davit::xnnpack_parts
