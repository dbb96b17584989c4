// SPDX-License-Identifier: MIT
#pragma once

/// As core/definitions.hpp, for the readers of files.
extern "C" const char davit_formats_is_not_defined__include_davit_formats_implementation_hpp_in_one_source_file;
namespace davit::detail {
[[gnu::used]] inline const char* const formats_definitions =
    &davit_formats_is_not_defined__include_davit_formats_implementation_hpp_in_one_source_file;
}  // namespace davit::detail
