// SPDX-License-Identifier: MIT
#include "davit/backends/impl/portable.ipp"
#include "davit/backends/portable/run_time/products/impl/byte_arguments.ipp"
#include "davit/backends/portable/run_time/impl/op_table.ipp"
#include "davit/kernels/impl/thread_team.ipp"
