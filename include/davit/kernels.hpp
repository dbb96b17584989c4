// SPDX-License-Identifier: MIT
#pragma once

/// All of kernels/.

#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/blocks.hpp"
#include "davit/kernels/convert.hpp"
#include "davit/kernels/elementwise.hpp"
#include "davit/kernels/fold_batch_norm.hpp"
#include "davit/kernels/function_ref.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/move.hpp"
#include "davit/kernels/multiply_add.hpp"
#include "davit/kernels/parameters.hpp"
#include "davit/kernels/quantize.hpp"
#include "davit/kernels/reduce.hpp"
#include "davit/kernels/resize_axis.hpp"
#include "davit/kernels/row_moments.hpp"
#include "davit/kernels/running_sum.hpp"
#include "davit/kernels/shapes.hpp"
#include "davit/kernels/special_functions.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/vector_math.hpp"
#include "davit/kernels/vectors.hpp"
#include "davit/kernels/walk.hpp"
