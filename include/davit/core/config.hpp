// SPDX-License-Identifier: MIT
#pragma once

#if __cplusplus <= 202002L
#error "davit needs C++23: compile with -std=c++23 (g++ 12.2 or newer, clang 19 or newer)"
#include "davit: compile with -std=c++23"  // there is no such file: the compiler stops here
#endif

/// How davit is used: header-only (the default), or as a library that is compiled once (`DAVIT_COMPILED`, which the
/// build targets of davit-compiled define). The headers and the API are the same.
///
/// `davit/<room>/x.hpp` declares; what does not depend on the user's types is defined in `davit/<room>/impl/x.ipp`,
/// each definition marked DAVIT_INLINE. x.hpp includes x.ipp at its end in header-only use alone; the sources of the
/// library in `davit/impl/` include all of them. What constant evaluation needs stays in x.hpp, and is a template
/// without need
/// (`template <class = void>`) where it is large: then only files that call it compile it.

#if defined(DAVIT_COMPILED)
#define DAVIT_INLINE
#else
#define DAVIT_INLINE inline
#endif

// Files of one program that disagree define this once as thread-local and once not, which linkers refuse and name.
#if defined(__linux__)
namespace davit::detail {
#if defined(DAVIT_COMPILED)
[[gnu::used]] inline constinit char how_davit_is_used
#else
[[gnu::used]] inline constinit thread_local char how_davit_is_used
#endif
    __asm__(
        "davit_header_only_and_davit_compiled_are_mixed_in_one_program__define_DAVIT_COMPILED_in_every_file_or_in_"
        "none") = 0;
}  // namespace davit::detail
#endif
