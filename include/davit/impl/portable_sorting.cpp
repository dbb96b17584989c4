// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/sorting_group.ipp"
