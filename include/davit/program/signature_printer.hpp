// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "davit/program/signature.hpp"

namespace davit {

/// Prints the argument like Python.
[[nodiscard]] std::string to_string(const ArgumentSpec& argument);

/// Prints the spec like Python.
[[nodiscard]] std::string to_string(const InputSpec& spec);

/// Prints the spec like Python.
[[nodiscard]] std::string to_string(const OutputSpec& spec);

/// Prints the signature like Python's `repr`, in torch 2.6 also its `str`. O(size of the text).
[[nodiscard]] std::string to_string(const ExportGraphSignature& signature);

}  // namespace davit
