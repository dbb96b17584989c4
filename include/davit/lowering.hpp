// SPDX-License-Identifier: MIT
#pragma once

/// All of lowering/.

#include "davit/lowering/lowered_module.hpp"
#include "davit/lowering/method_interface.hpp"
#include "davit/lowering/to_backend.hpp"
