// SPDX-License-Identifier: MIT
// The definitions of loader.cpp: what loads and runs packages, and the kernels of one group of operators.
#include <davit/backends/portable/float_inference_implementation.hpp>
#include <davit/loader_implementation.hpp>
