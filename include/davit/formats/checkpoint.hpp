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

/// The state of a session (buffers, trained parameters, moments of an optimizer, caches) as a package without methods:
/// names, dtypes, sizes and elements, with a hash. Any session of a program with such state can go on from it, on other
/// backends and on another machine. The same state gives the same bytes. O(bytes of state).
[[nodiscard]] Result<std::vector<std::byte>> save_state(const Session& session);
/// Saves to a file, whole or not at all. Errors: io_error.
[[nodiscard]] Result<void> save_state(const Session& session, const std::string& path);

/// Gives a session the state that save_state wrote, or that of a package: its initial values, or what
/// SaveOptions::state put in their place. Entries that the session does not have do not matter. Not while the session
/// runs; outputs of its last run that view state show the new one.
///
/// Errors, with the session's state as it was: corrupt_data, version_mismatch for bytes that are no package; not_found
/// for a buffer of the session without an entry; invalid_dtype, invalid_shape for an entry unlike its buffer.
/// O(bytes). Source: torch.nn.Module.load_state_dict.
[[nodiscard]] Result<void> load_state(Session& session, const SharedBytes& bytes);
[[nodiscard]] Result<void> load_state(Session& session, const std::string& path);

/// The named tensors of a checkpoint, or of a package's state, for replace_weights. The backends of a package need not
/// be there. Tensors view `bytes`, or the mapped file, which must not change meanwhile. Errors: corrupt_data,
/// version_mismatch, io_error.
[[nodiscard]] Result<std::vector<NamedTensor>> read_state(const SharedBytes& bytes);
[[nodiscard]] Result<std::vector<NamedTensor>> read_state(const std::string& path);

}  // namespace davit::formats
