// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/program/signature.hpp"

namespace davit::formats {

/// The answers to every query of a signature as one line of JSON: mappings as ordered [key, value] pairs, floats as
/// Python does.
///
/// `parameters_to_mutate`, which torch 2.6 does not have, is left out if it is empty. A signature with two losses is an
/// error.
[[nodiscard]] Result<std::string> signature_queries_json(const ExportGraphSignature& signature);

}  // namespace davit::formats
