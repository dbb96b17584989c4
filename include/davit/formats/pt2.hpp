// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/limits.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/formats/definitions.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

struct Pt2Options {
  std::string_view model;        ///< name of the model in an archive of several; empty: the only one, or "model"
  bool verify_checksums = true;  ///< compare each part with its CRC-32, which reads the whole file
  Limits limits{};
  /// Skips unreadable guards instead of rejecting the file. A call that breaks a skipped guard then returns numbers,
  /// although PyTorch rejects it.
  bool skip_unreadable_guards = false;
};

/// Reads a program that torch.export.save wrote, from the bytes of the file.
///
/// Accepts the layout of torch 2.1 to 2.7 and both layouts of the newer PT2 archive. Weights view the bytes; storages
/// that are misaligned for their elements (torch up to 2.7 does not align them) are copied once. Reads example inputs
/// without importing Python classes, and leaves unreadable ones out. O(size log values). Errors: stage load, with the
/// member of the file and the place in it. Any bytes give an error or a program with sound tables (see check_tables;
/// verify checks the rest). For other kinds of files (ONNX, .pte, TorchScript, a state_dict, a package) the error names
/// the kind: see file_kind.
[[nodiscard]] Result<ExportedProgram> read_pt2(SharedBytes bytes, const Pt2Options& options = {});

/// Reads a file, which is mapped and must not change while the program or a copy of it lives.
[[nodiscard]] Result<ExportedProgram> read_pt2(const std::string& path, const Pt2Options& options = {});

}  // namespace davit::formats
