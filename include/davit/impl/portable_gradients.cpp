// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/gradients_group.ipp"
