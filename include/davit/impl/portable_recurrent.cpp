// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/recurrent_group.ipp"
