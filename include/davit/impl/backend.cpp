// SPDX-License-Identifier: MIT
// backend/ and compiler_demo of the compiled library.
#include "davit/backend/impl/debug_handles.ipp"
#include "davit/backend/impl/program_body.ipp"
