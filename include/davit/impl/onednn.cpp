// SPDX-License-Identifier: MIT
#include "davit/backends/impl/onednn.ipp"
