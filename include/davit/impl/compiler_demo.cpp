// SPDX-License-Identifier: MIT
#include "davit/backends/compiler_demo/impl/compiler_demo.ipp"
#include "davit/backends/compiler_demo/impl/tokens.ipp"
