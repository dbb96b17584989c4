// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/impl/byte_products.ipp"
#include "davit/backends/portable/run_time/impl/quantization_group.ipp"
