// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/scratch.hpp"

namespace davit {

/// Lets a backend size its workspace for these inputs. Returns the bytes of scratch that it needs; 0 if the backend has
/// no prepare. `outputs` marks the outputs that will have a destination. Errors: those of the backend's prepare.
[[nodiscard]] Result<std::size_t> scratch_for(const BackendTable& backend, const void* handle,
                                              std::span<const EValue> inputs, std::span<const EValue> outputs,
                                              void* workspace);

/// Also reserves the scratch. Errors: as scratch_for; out_of_memory, also above `max_memory` bytes.
[[nodiscard]] Result<void> prepare_delegate(const BackendTable& backend, const void* handle,
                                            std::span<const EValue> inputs, std::span<const EValue> outputs,
                                            void* workspace, Scratch& scratch, std::uint64_t max_memory = UINT64_MAX);

namespace detail {
/// Makes the out_of_memory Error for `bytes` of `what`: the machine has not enough, or the session's limit is lower.
[[nodiscard]] Error no_memory_for(std::string_view what, std::uint64_t bytes, std::uint64_t max_memory);
}  // namespace detail

}  // namespace davit
