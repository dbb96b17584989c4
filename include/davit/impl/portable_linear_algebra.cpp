// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/linear_algebra_group.ipp"
