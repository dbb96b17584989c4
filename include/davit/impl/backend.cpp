// SPDX-License-Identifier: MIT
// backend/, compiler_demo and what compiles for portable, of the compiled library.
#include "davit/backend/impl/backend_table.ipp"
#include "davit/backend/impl/debug_handles.ipp"
#include "davit/backend/impl/program_body.ipp"
#include "davit/backends/compiler_demo/impl/compiler_demo.ipp"
#include "davit/backends/compiler_demo/impl/tokens.ipp"
#include "davit/backends/impl/portable_compile.ipp"
