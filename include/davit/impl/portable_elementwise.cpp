// SPDX-License-Identifier: MIT
#include "davit/backends/portable/impl/elementwise_group.ipp"
