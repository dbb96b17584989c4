// SPDX-License-Identifier: MIT
#pragma once

/// As core/definitions.hpp, for the backend `onednn`.
extern "C" const char davit_onednn_is_not_defined__include_davit_backends_onednn_implementation_hpp_in_one_source_file;
namespace davit::detail {
[[gnu::used]] inline const char* const onednn_definitions =
    &davit_onednn_is_not_defined__include_davit_backends_onednn_implementation_hpp_in_one_source_file;
}  // namespace davit::detail
