// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "davit/core/config.hpp"

namespace davit::detail {

/// Appends `text` as Python's repr of a str writes it: single quotes unless only double quotes avoid an escape.
/// Bytes that are no UTF-8 become \x escapes.
void append_python_str(std::string& out, std::string_view text);

/// Appends `value` as Python's repr of a float writes it: the shortest digits that read back as `value`.
void append_python_float(std::string& out, double value);

}  // namespace davit::detail

#if !defined(DAVIT_COMPILED)
#include "davit/program/impl/python_repr.ipp"
#endif
