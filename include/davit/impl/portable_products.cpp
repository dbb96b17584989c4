// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/product_group.ipp"
