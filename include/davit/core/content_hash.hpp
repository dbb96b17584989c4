// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/core/config.hpp"

namespace davit {

/// Returns a 64-bit hash of bytes, the same on every machine, to find damage and equal blobs; no defence against
/// forgery. O(size).
[[nodiscard]] std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

}  // namespace davit
