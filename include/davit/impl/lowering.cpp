// SPDX-License-Identifier: MIT
#include "davit/lowering/impl/assign_nodes.ipp"
#include "davit/lowering/impl/capability_partitioner.ipp"
#include "davit/lowering/impl/lower_program.ipp"
#include "davit/lowering/impl/lowered_program.ipp"
#include "davit/lowering/impl/method_interface.ipp"
#include "davit/lowering/impl/schedule.ipp"
#include "davit/lowering/impl/to_backend.ipp"
