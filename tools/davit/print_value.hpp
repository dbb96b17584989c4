// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "davit/core/evalue.hpp"
#include "davit/lowered/method_interface.hpp"

namespace tool {

/// Prints an output: dtype, shape and statistics of a tensor, and the `top` largest elements of a row of floats.
void print_output(std::size_t i, const davit::OutputPort& port, const davit::EValue& value, std::size_t top);

}  // namespace tool
