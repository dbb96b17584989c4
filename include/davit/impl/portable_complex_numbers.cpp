// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/complex_numbers_group.ipp"
