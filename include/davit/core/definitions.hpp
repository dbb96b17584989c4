// SPDX-License-Identifier: MIT
#pragma once

/// Declares and references a symbol that the definitions of davit provide. A program without the definitions does not
/// link, and the linker's error prints this name, which states the fix. `davit/<room>/x.hpp` declares,
/// `davit/<room>/impl/x.ipp` defines, `davit/implementation.hpp` includes all definitions. Static programs need none.
extern "C" const char davit_is_not_defined__include_davit_implementation_hpp_in_one_source_file_or_link_libdavit;
namespace davit::detail {
[[gnu::used]] inline const char* const core_definitions =
    &davit_is_not_defined__include_davit_implementation_hpp_in_one_source_file_or_link_libdavit;
}  // namespace davit::detail
