// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>

#include "davit/core/value_or_exit.hpp"

namespace davit::detail {

void exit_with(const Error& error) {
  std::fprintf(stderr, "%s\n", to_string(error).c_str());  // NOLINT(modernize-use-std-print): g++ 12 has none
  std::exit(1);
}

}  // namespace davit::detail
