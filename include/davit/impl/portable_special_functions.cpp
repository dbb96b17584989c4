// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/special_functions_group.ipp"
