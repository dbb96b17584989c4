// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/indexing_group.ipp"
