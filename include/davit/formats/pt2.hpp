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
  std::string_view model;        ///< which model of an archive of several; empty: the only one, or "model"
  bool verify_checksums = true;  ///< compare each part with its CRC-32, which reads all of the file
  Limits limits{};
  /// Leave out guards that cannot be read, instead of refusing the file: a call that breaks one then gives numbers that
  /// PyTorch refuses.
  bool skip_unreadable_guards = false;
};

/// Reads a program that torch.export.save wrote, from the bytes of the file.
///
/// Takes the layout of torch 2.1 to 2.7 and both layouts of the newer PT2 archive. Weights view the bytes, except for
/// storages at addresses that their elements cannot have (torch up to 2.7 does not align them), which are copied once.
/// Example inputs that cannot be read, which needs no class of Python, are left out. O(size log values). Errors: stage
/// load, with the member of the file and the place in it; a file of any content is an error or a program whose tables
/// are sound (see check_tables; verify checks the rest). A file of another kind (ONNX, .pte, TorchScript, a state_dict,
/// a package) is named in the error: see file_kind.
[[nodiscard]] Result<ExportedProgram> read_pt2(SharedBytes bytes, const Pt2Options& options = {});

/// The same from a file, which is mapped and must not change while the program or a copy of it lives.
[[nodiscard]] Result<ExportedProgram> read_pt2(const std::string& path, const Pt2Options& options = {});

}  // namespace davit::formats
