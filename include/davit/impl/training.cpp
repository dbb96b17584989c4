// SPDX-License-Identifier: MIT
#include "davit/training/impl/merge_adapters.ipp"
#include "davit/training/impl/replace_weights.ipp"
#include "davit/training/impl/training_program.ipp"
