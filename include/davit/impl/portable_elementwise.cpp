// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/elementwise_group.ipp"
