// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>

#include "davit/core/value_or_exit.hpp"

namespace davit::detail {

void exit_with(const Error& error) {
  std::fputs((to_string(error) + "\n").c_str(), stderr);
  std::exit(1);
}

}  // namespace davit::detail
