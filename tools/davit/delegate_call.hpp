// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "davit/core/contiguous.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"

namespace tool {

/// A copy of a value that outlives the run. Not copyable: `value` views its own tensor or text.
struct KeptValue {
  davit::Tensor tensor;
  std::unique_ptr<std::string> text;
  davit::EValue value;

  explicit KeptValue(const davit::EValue& original) : value(original) {
    if (original.is_string()) {
      text = std::make_unique<std::string>(original.as_string());
      value = davit::EValue(std::string_view(*text));
    }
    if (!original.is_tensor()) return;
    tensor = davit::contiguous(original.tensor());
    value = davit::EValue(tensor.view());
  }
};

/// Outputs of one partition call.
struct DelegateCall {
  davit::Name tag;
  davit::Name backend;
  std::vector<davit::Name> names;  ///< names of the values in the program
  std::vector<KeptValue> outputs;
};

}  // namespace tool
