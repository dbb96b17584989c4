// SPDX-License-Identifier: MIT
#include "davit/backends/portable/impl/movement_group.ipp"
