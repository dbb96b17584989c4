// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/core/config.hpp"
#include "davit/core/tensor_view.hpp"
#include "davit/core/walk.hpp"

namespace davit {

/// Moves elements of 1, 2, 4, 8 or 16 bytes along a collapsed walk of two operands, source and target, which must not
/// overlap. O(elements); rows that lie contiguous in both are one memcpy, and dimensions that change places go by
/// tiles.
void move_elements(std::size_t element, const Walk& walk, const void* from, void* to) noexcept;
/// Moves elements of one tensor to another of these sizes, whatever the strides (in elements).
void move_elements(std::size_t element, std::span<const std::int64_t> sizes, const void* from,
                   std::span<const std::int64_t> from_strides, void* to,
                   std::span<const std::int64_t> to_strides) noexcept;
/// Moves the elements of `from` to `to`, of the same dtype and sizes.
void move_elements(const TensorView& from, const TensorView& to) noexcept;

}  // namespace davit
