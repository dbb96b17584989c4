// SPDX-License-Identifier: MIT
#include "davit/autotune/impl/autotune_partitioner.ipp"
#include "davit/autotune/impl/synthetic_inputs.ipp"
