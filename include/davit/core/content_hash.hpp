// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/core/config.hpp"

namespace davit {

/// A 64-bit hash of bytes: finds damage and equal blobs, and is no defence against forgery. The same on every machine.
/// O(size).
[[nodiscard]] std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

}  // namespace davit
