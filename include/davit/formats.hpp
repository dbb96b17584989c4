// SPDX-License-Identifier: MIT
#pragma once

/// File formats of a program that lowers and runs models: .pt2, .davit and .npy. Needs RapidJSON and zlib.
///
/// The rest of formats/ is for tools: report_json.hpp and chrome_trace.hpp (reports), embed_program.hpp (C++ of a
/// model), cost_table_json.hpp.

#include "davit/formats/npy.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/pt2.hpp"
