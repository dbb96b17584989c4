// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/bytes.hpp"
#include "davit/core/segments.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowered/lowered_program.hpp"

namespace davit::formats {

struct SaveOptions {
  bool debug_map = true;  ///< save source places of the nodes; strip_debug_map removes them later
  /// The state of a session: sessions of the package begin with it. Empty: the initial values.
  std::span<const NamedTensor> state{};
  /// Tensors that lie in a file of save_weights, such as the program's state_dict: the package contains none that has
  /// kept its name and elements, and needs them to load. Packages and processes that map the file share its memory.
  std::span<const NamedTensor> weights{};
  std::string_view weights_file{};  ///< name of that file, beside the package; a name without folders
  /// Weights with other elements may be loaded with the package: lowering computed nothing from the weights that lie in
  /// the file (weights_are_free). Otherwise other elements are an Error.
  bool may_replace_weights = false;
};

struct LoadOptions {
  /// Weights of a package that keeps them in a file of their own (SaveOptions::weights), by name: fine-tuned ones, or
  /// those that other programs of the process share. None: those of the file beside the package.
  std::optional<std::span<const NamedTensor>> weights{};
  Diagnostics* diagnostics = nullptr;
};

/// Serializes a lowered program: one program table, the backends' blobs and all tensors as aligned segments (equal ones
/// once), and the debug map at the end, so that it can be stripped. Equal programs give equal bytes.
///
/// The flat tables are a format of their own, read with bounds checks and the verifier. A FlatBuffers schema would wrap
/// the same byte vectors, could not check their references, and would be a second library to ship. Errors:
/// unsupported_argument for a backend that cannot save; invalid_argument for options that no package can be loaded
/// with: a tensor whose elements are not all there, a state without a buffer, a weights_file in a folder. O(size).
[[nodiscard]] Result<std::vector<std::byte>> save_program(const LoweredProgram& program, SaveOptions options = {});

/// Saves to a file. Errors: as above; io_error. Leaves no partly written file.
[[nodiscard]] Result<void> save_program(const LoweredProgram& program, const std::string& path,
                                        SaveOptions options = {});

/// Rejects a Result at compile time, with a message.
template <class R, class... Rest>
  requires std::same_as<R, Result<LoweredProgram>>
Result<void> save_program(const R&, const Rest&...) {
  static_assert(!std::same_as<R, Result<LoweredProgram>>,
                "davit: save_program takes a lowered program, and this is a davit::Result, which may hold an Error; "
                "check it, then pass *lowered, or "
                "pass davit::value_or_exit(lowered)");
  return {};
}

/// Loads the bytes of save_program, matches backends by name against the list, and compiles. Tensors view `bytes`.
///
/// Errors: corrupt_data and version_mismatch with the place; not_available for a backend that is not in the list, or
/// that cannot run here and has no fallback in the package; errors of the backends' load and compile.
[[nodiscard]] Result<LoweredProgram> load_program(BackendTables backends, const SharedBytes& bytes,
                                                  Diagnostics* diagnostics = nullptr);

/// Loads with other weights than those beside the package. Further Errors: not_found for a missing file or name;
/// invalid_dtype, invalid_shape for a weight that does not fit; invalid_argument for other elements of a weight that
/// lowering folded into others.
[[nodiscard]] Result<LoweredProgram> load_program(BackendTables backends, const SharedBytes& bytes,
                                                  const LoadOptions& options);
[[nodiscard]] Result<LoweredProgram> load_program(BackendTables backends, const std::string& path,
                                                  const LoadOptions& options);

/// Loads from a file, which is mapped. It must not change or be truncated while the program or a session of it lives;
/// replacing it by renaming a new file is safe.
[[nodiscard]] Result<LoweredProgram> load_program(BackendTables backends, const std::string& path,
                                                  Diagnostics* diagnostics = nullptr);

/// Loads for a list of backends, or for one backend. `from` is a path, or bytes.
template <class Backends, class From>
[[nodiscard]] Result<LoweredProgram> load_program(const From& from, Diagnostics* diagnostics = nullptr) {
  if constexpr (requires { Backends::tables(); })
    return load_program(Backends::tables(), from, diagnostics);
  else
    return load_program(BackendList<Backends>::tables(), from, diagnostics);
}

template <class Backends, class From>
[[nodiscard]] Result<LoweredProgram> load_program(const From& from, const LoadOptions& options) {
  if constexpr (requires { Backends::tables(); })
    return load_program(Backends::tables(), from, options);
  else
    return load_program(BackendList<Backends>::tables(), from, options);
}

namespace detail {
/// Reads over the methods of a program table, up to its state; nothing of them is loaded. Errors: corrupt_data.
[[nodiscard]] Result<void> skip_methods(ByteReader& in, const SegmentReader& segments);
}  // namespace detail

}  // namespace davit::formats
