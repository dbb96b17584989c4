// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/movement_group.ipp"
