// SPDX-License-Identifier: MIT
#include "davit/choosing/impl/choosing_partitioner.ipp"
#include "davit/choosing/impl/made_up_inputs.ipp"
