// SPDX-License-Identifier: MIT
#include "davit/backends/portable/impl/product_group.ipp"
