// SPDX-License-Identifier: MIT
#include "davit/backends/impl/onednn_compile.ipp"
