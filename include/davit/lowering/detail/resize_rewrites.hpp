// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "davit/lowering/detail/simplifier.hpp"

/// Rewrites of index(x) by indices that depend on numbers alone. They are code, not patterns, because they compare
/// these numbers.
namespace davit::detail {

/// index(x, [none, none, rows, columns]) -> upsample_nearest, reflection_pad or replication_pad; a + (b - a) * w with a
/// and b from index, one dimension after the other -> upsample_linear.
/// Source: torch._decomp.decompositions._upsample_linear.
[[nodiscard]] std::span<const Rewrite> resize_rewrites() noexcept;

}  // namespace davit::detail
