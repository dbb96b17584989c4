// SPDX-License-Identifier: MIT
#pragma once

/// Link-time check as in core/definitions.hpp, for the file readers.
extern "C" const char davit_formats_is_not_defined__include_davit_formats_implementation_hpp_in_one_source_file;
namespace davit::detail {
[[gnu::used]] inline const char* const formats_definitions =
    &davit_formats_is_not_defined__include_davit_formats_implementation_hpp_in_one_source_file;
}  // namespace davit::detail
