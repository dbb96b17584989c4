// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/bytes.hpp"
#include "davit/core/segments.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowered/lowered_program.hpp"

namespace davit::formats {

struct SaveOptions {
  bool debug_map = true;                 ///< where the nodes came from; strip_debug_map takes it out later
  std::span<const NamedTensor> state{};  ///< a session's state: sessions of the package begin with it; empty: the
                                         ///< initial values
};

/// A lowered program as bytes: one program table, the backends' blobs and all tensors as aligned segments (equal ones
/// once), and the debug map at the end, where it can be stripped. The same program gives the same bytes.
///
/// The program's flat tables are their own format, read back with bounds checks and the verifier; a FlatBuffers schema
/// would wrap the same byte vectors, could not check their references, and would be a second library to ship.
/// Errors: unsupported_argument for a backend that cannot save. O(size).
[[nodiscard]] Result<std::vector<std::byte>> save_program(const LoweredProgram& program, SaveOptions options = {});

/// Saves to a file. Errors: as above, io_error; a file that cannot be written whole is removed.
[[nodiscard]] Result<void> save_program(const LoweredProgram& program, const std::string& path,
                                        SaveOptions options = {});

/// Not of a Result: this says so, and does not compile.
template <class R, class... Rest>
  requires std::same_as<R, Result<LoweredProgram>>
Result<void> save_program(const R&, const Rest&...) {
  static_assert(!std::same_as<R, Result<LoweredProgram>>,
                "davit: save_program takes a lowered program, and this is a davit::Result, which may hold an Error; "
                "check it, then pass *lowered, or "
                "pass davit::value_or_exit(lowered)");
  return {};
}

/// Loads what save_program wrote, matches backends by name against the list, and compiles. Tensors view `bytes`.
///
/// Errors: corrupt_data and version_mismatch with the place; not_available for a backend that is not in the list, or
/// that cannot run here and has no fallback in the package; what the backends' load and compile report.
[[nodiscard]] Result<LoweredProgram> load_program(BackendTables backends, const SharedBytes& bytes,
                                                  Diagnostics* diagnostics = nullptr);

/// The same from a file, which is mapped: it must not change or become shorter while the program or a session of it
/// lives. A new file that is renamed to its name does not matter.
[[nodiscard]] Result<LoweredProgram> load_program(BackendTables backends, const std::string& path,
                                                  Diagnostics* diagnostics = nullptr);

/// The same for a list of backends; `from` is a path, or bytes.
template <class List, class From>
[[nodiscard]] Result<LoweredProgram> load_program(const From& from, Diagnostics* diagnostics = nullptr) {
  return load_program(List::tables(), from, diagnostics);
}

namespace detail {
/// Reads over the methods of a program table, up to its state; nothing of them is loaded. Errors: corrupt_data.
[[nodiscard]] Result<void> skip_methods(ByteReader& in, const SegmentReader& segments);
}  // namespace detail

}  // namespace davit::formats
