// SPDX-License-Identifier: MIT
#pragma once

/// Includes all of training/: programs that train, and weights that move between programs by name.

#include "davit/training/merge_adapters.hpp"
#include "davit/training/optimizer.hpp"
#include "davit/training/replace_weights.hpp"
#include "davit/training/training_program.hpp"
