// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

#include "davit/core/evalue.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/testing/compare.hpp"

namespace support {

/// Describes differences from `portable` for the same inputs; empty if there are none. One translation unit for all
/// tests, because `portable` takes long to compile.
[[nodiscard]] std::string differs_from_portable(const davit::ExportedProgram& program,
                                                std::span<const davit::EValue> inputs,
                                                std::span<const davit::EValue> results,
                                                davit::testing::Tolerance tolerance);

}  // namespace support
