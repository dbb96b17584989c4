// SPDX-License-Identifier: MIT
#include "davit/backends/impl/xnnpack_compile.ipp"
