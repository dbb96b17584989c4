// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/window_group.ipp"
