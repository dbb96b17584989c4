// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/all_ops.ipp"
