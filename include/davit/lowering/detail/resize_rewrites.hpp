// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "davit/lowering/detail/simplifier.hpp"

/// Rewrites of index(x) by indices that only numbers go into. Patterns do not say them: they compare the numbers.
namespace davit::detail {

/// index(x, [none, none, rows, columns]) -> upsample_nearest, reflection_pad or replication_pad; a + (b - a) * w of
/// elements taken by index, dimension by dimension -> upsample_linear.
/// Source: torch._decomp.decompositions._upsample_linear.
[[nodiscard]] std::span<const Rewrite> resize_rewrites() noexcept;

}  // namespace davit::detail
