// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/runtime/session.hpp"

namespace davit::formats {

/// Returns a session's state (buffers, trained parameters, moments of an optimizer, caches) as a package without
/// methods: names, dtypes, sizes and elements, with a hash. Any session of a program with the same state can continue
/// from it, on other backends and on another machine. Equal states give equal bytes. O(bytes of state).
[[nodiscard]] Result<std::vector<std::byte>> save_state(const Session& session);
/// Saves the state to a file; after an error no partial file remains. Errors: io_error.
[[nodiscard]] Result<void> save_state(const Session& session, const std::string& path);

/// Loads a session's state from bytes that save_state wrote, or from a package: its initial values, or the values of
/// SaveOptions::state. Entries that the session does not have are ignored. Do not call it while the session runs.
/// Outputs of the last run that view state show the new values.
///
/// Errors leave the session's state as it was: corrupt_data, version_mismatch for bytes that are not a package;
/// not_found for a buffer of the session without an entry; invalid_dtype, invalid_shape for an entry whose dtype or
/// sizes differ from the buffer's. O(bytes). Source: torch.nn.Module.load_state_dict.
[[nodiscard]] Result<void> load_state(Session& session, const SharedBytes& bytes);
[[nodiscard]] Result<void> load_state(Session& session, const std::string& path);

/// Returns the named tensors of a checkpoint, or of a package's state, for replace_weights. The backends of a package
/// need not be linked. Tensors view `bytes` or the mapped file, which must not change during their life. Errors:
/// corrupt_data, version_mismatch, io_error.
[[nodiscard]] Result<std::vector<NamedTensor>> read_state(const SharedBytes& bytes);
[[nodiscard]] Result<std::vector<NamedTensor>> read_state(const std::string& path);

}  // namespace davit::formats
