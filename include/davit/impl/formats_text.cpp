// SPDX-License-Identifier: MIT
#include "davit/formats/impl/chrome_trace.ipp"
#include "davit/formats/impl/embed_delegates.ipp"
#include "davit/formats/impl/embed_program.ipp"
#include "davit/formats/impl/report_json.ipp"
