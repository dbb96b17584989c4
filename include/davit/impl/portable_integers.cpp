// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/integers_group.ipp"
