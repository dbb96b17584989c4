// SPDX-License-Identifier: MIT
// ops/ and program/ of the compiled library.
#include "davit/ops/impl/operators.ipp"
#include "davit/program/impl/exported_program.ipp"
#include "davit/program/impl/graph_bytes.ipp"
#include "davit/program/impl/guard.ipp"
#include "davit/program/impl/guard_values.ipp"
#include "davit/program/impl/printer.ipp"
#include "davit/program/impl/program_bytes.ipp"
#include "davit/program/impl/python_repr.ipp"
#include "davit/program/impl/signature_printer.ipp"
