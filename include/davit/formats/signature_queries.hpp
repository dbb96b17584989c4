// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/program/signature.hpp"

namespace davit::formats {

/// Returns the results of all signature queries as one line of JSON: mappings as ordered [key, value] pairs, floats as
/// in Python.
///
/// Omits an empty `parameters_to_mutate`, which torch 2.6 does not have. Errors: a signature with two losses.
[[nodiscard]] Result<std::string> signature_queries_json(const ExportGraphSignature& signature);

}  // namespace davit::formats
