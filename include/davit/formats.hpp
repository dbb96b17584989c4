// SPDX-License-Identifier: MIT
#pragma once

/// The files that a program which lowers and runs models reads and writes: .pt2, .davit and .npy. It needs RapidJSON,
/// minizip and zlib.
///
/// The rest of formats/ is for tools: report_json.hpp and chrome_trace.hpp (reports), embed_program.hpp (C++ of a
/// model), recorded_case.hpp, cost_table_json.hpp, signature_queries.hpp.

#include "davit/formats/npy.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/pt2.hpp"
