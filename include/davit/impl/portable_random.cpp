// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/random_group.ipp"
