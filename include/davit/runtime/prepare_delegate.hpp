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

/// Lets a backend size its workspace for these inputs; answers the bytes of scratch it asks for, 0 for a backend that
/// does not prepare. `outputs` says which outputs will have a destination. Errors: what the backend's prepare reports.
[[nodiscard]] Result<std::size_t> scratch_for(const BackendTable& backend, const void* handle,
                                              std::span<const EValue> inputs, std::span<const EValue> outputs,
                                              void* workspace);

/// The same, and makes room for that scratch. Errors: out_of_memory too, also for more than `max_memory` bytes.
[[nodiscard]] Result<void> prepare_delegate(const BackendTable& backend, const void* handle,
                                            std::span<const EValue> inputs, std::span<const EValue> outputs,
                                            void* workspace, Scratch& scratch, std::uint64_t max_memory = UINT64_MAX);

namespace detail {
/// `bytes` of memory, for `what`, that a run cannot have: there are not as many, or the session's limit is lower.
[[nodiscard]] Error no_memory_for(std::string_view what, std::uint64_t bytes, std::uint64_t max_memory);
}  // namespace detail

}  // namespace davit
