// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/reduction_group.ipp"
