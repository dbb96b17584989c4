// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "davit/program/signature.hpp"

namespace davit {

/// The argument as Python prints it.
[[nodiscard]] std::string to_string(const ArgumentSpec& argument);

/// The spec as Python prints it.
[[nodiscard]] std::string to_string(const InputSpec& spec);

/// The spec as Python prints it.
[[nodiscard]] std::string to_string(const OutputSpec& spec);

/// The signature as Python's `repr` writes it, which in torch 2.6 is also its `str`. O(size of the text).
[[nodiscard]] std::string to_string(const ExportGraphSignature& signature);

}  // namespace davit
