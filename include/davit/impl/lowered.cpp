// SPDX-License-Identifier: MIT
#include "davit/lowered/impl/lowered_program.ipp"
#include "davit/lowered/impl/method_interface.ipp"
#include "davit/lowered/impl/print_report.ipp"
#include "davit/lowered/impl/schedule.ipp"
#include "davit/lowered/impl/text_table.ipp"
#include "davit/lowered/impl/write_dot.ipp"
