// SPDX-License-Identifier: MIT
// backend/, and what compiles for portable, of the compiled library.
#include "davit/backend/impl/backend_table.ipp"
#include "davit/backend/impl/debug_handles.ipp"
#include "davit/backend/impl/program_body.ipp"
#include "davit/backend/impl/stop_condition.ipp"
#include "davit/backends/impl/portable_compile.ipp"
