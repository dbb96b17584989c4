// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/program/exported_program.hpp"

namespace davit {

ExportedProgram::ExportedProgram() = default;
ExportedProgram::ExportedProgram(ProgramTables tables) noexcept : ProgramTables(std::move(tables)) {}
ExportedProgram::ExportedProgram(const ExportedProgram&) = default;
ExportedProgram::ExportedProgram(ExportedProgram&&) noexcept = default;
ExportedProgram& ExportedProgram::operator=(const ExportedProgram&) = default;
ExportedProgram& ExportedProgram::operator=(ExportedProgram&&) noexcept = default;
ExportedProgram::~ExportedProgram() = default;

}  // namespace davit
