// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"
#include "failure.hpp"

namespace davit::python {

/// A davit.Tensor: for elements that numpy does not have (bfloat16), without numpy, and for outputs that are lent.
/// Python's libraries view it through the buffer protocol and __dlpack__.
struct PythonTensor {
  Tensor own;                    ///< owns sizes, strides and, unless lent, elements
  TensorView view{};             ///< of the elements
  std::shared_ptr<void> lender;  ///< keeps the elements, if they are lent; the tensor is then read-only for buffers
};

/// Converts a value of a run: tensors are copied into new numpy arrays, or into Tensors if numpy has no such dtype.
[[nodiscard]] py::object to_python(const EValue& value);
/// Converts a value whose tensors may stay where they are, for which `lend` returns their owner; null: copy.
using Lend = std::function<std::shared_ptr<void>(const TensorView&)>;
[[nodiscard]] py::object to_python(const EValue& value, const Lend& lend);

/// Adds the class Tensor to the module.
void add_tensor(py::module_& module);

}  // namespace davit::python
