// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "davit/backend/contract.hpp"

namespace davit::testing {

/// A text as a template argument.
template <std::size_t N>
struct BackendName {
  char text[N];
  consteval BackendName(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
};

/// A copy of backend B: a distinct type with another name.
template <class B, BackendName new_name>
struct renamed_backend : B {
  static constexpr std::string_view name{new_name.text, sizeof(new_name.text) - 1};
};

}  // namespace davit::testing
