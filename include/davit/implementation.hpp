// SPDX-License-Identifier: MIT
#pragma once

/// Definitions of all of davit except its optional libraries: include it in one source file of a program, or link the
/// library davit. Needs only the standard library and Boost.Hana.

#include "davit/backends/portable/complex_numbers_implementation.hpp"
#include "davit/backends/portable/float_inference_implementation.hpp"
#include "davit/backends/portable/gradients_implementation.hpp"
#include "davit/backends/portable/indexing_implementation.hpp"
#include "davit/backends/portable/integers_implementation.hpp"
#include "davit/backends/portable/linear_algebra_implementation.hpp"
#include "davit/backends/portable/quantization_implementation.hpp"
#include "davit/backends/portable/random_implementation.hpp"
#include "davit/backends/portable/recurrent_implementation.hpp"
#include "davit/backends/portable/sorting_implementation.hpp"
#include "davit/backends/portable/special_functions_implementation.hpp"
#include "davit/backends/portable/vision_implementation.hpp"
#include "davit/impl/portable/all.cpp"
#include "davit/lowering_implementation.hpp"
