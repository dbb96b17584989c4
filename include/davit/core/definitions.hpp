// SPDX-License-Identifier: MIT
#pragma once

/// Declares a symbol that davit's definitions define, and refers to it: a program without the definitions does not
/// link, and the linker prints this name, which says the fix. `davit/<room>/x.hpp` declares, `davit/<room>/impl/x.ipp`
/// defines, `davit/implementation.hpp` includes all definitions. Static programs need none.
extern "C" const char davit_is_not_defined__include_davit_implementation_hpp_in_one_source_file_or_link_libdavit;
namespace davit::detail {
[[gnu::used]] inline const char* const core_definitions =
    &davit_is_not_defined__include_davit_implementation_hpp_in_one_source_file_or_link_libdavit;
}  // namespace davit::detail
