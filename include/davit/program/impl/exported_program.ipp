// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/program/exported_program.hpp"

namespace davit {

DAVIT_INLINE ExportedProgram::ExportedProgram() = default;
DAVIT_INLINE ExportedProgram::ExportedProgram(ProgramTables tables) noexcept : ProgramTables(std::move(tables)) {}
DAVIT_INLINE ExportedProgram::ExportedProgram(const ExportedProgram&) = default;
DAVIT_INLINE ExportedProgram::ExportedProgram(ExportedProgram&&) noexcept = default;
DAVIT_INLINE ExportedProgram& ExportedProgram::operator=(const ExportedProgram&) = default;
DAVIT_INLINE ExportedProgram& ExportedProgram::operator=(ExportedProgram&&) noexcept = default;
DAVIT_INLINE ExportedProgram::~ExportedProgram() = default;

}  // namespace davit
