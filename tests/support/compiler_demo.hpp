// SPDX-License-Identifier: MIT
#pragma once

#include "../../examples/compiler_demo/compiler_demo.hpp"

namespace davit {
using ::demo::compiler_demo;
namespace demo = ::demo;
}  // namespace davit
