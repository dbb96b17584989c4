// SPDX-License-Identifier: MIT
#pragma once

/// Defines the symbol that tells a linker's user which file defines the backend `xnnpack`: see core/definitions.hpp.
extern "C" const char
    davit_xnnpack_is_not_defined__include_davit_backends_xnnpack_implementation_hpp_in_one_source_file;
namespace davit::detail {
[[gnu::used]] inline const char* const xnnpack_definitions =
    &davit_xnnpack_is_not_defined__include_davit_backends_xnnpack_implementation_hpp_in_one_source_file;
}  // namespace davit::detail
