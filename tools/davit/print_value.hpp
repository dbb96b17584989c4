// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "davit/core/evalue.hpp"
#include "davit/lowered/method_interface.hpp"

namespace tool {

/// Prints an output: a tensor by dtype, shape and what its elements are like, and the `top` largest of a row of floats.
void print_output(std::size_t i, const davit::OutputPort& port, const davit::EValue& value, std::size_t top);

}  // namespace tool
