// SPDX-License-Identifier: MIT
#include "davit/backends/portable/impl/reduction_group.ipp"
