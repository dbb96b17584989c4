// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "davit/lowering/detail/simplifier.hpp"

/// Rewrites of operators that only rearrange elements. They are code, not patterns, because they hold for any number of
/// dimensions, views and list items, and compute sizes and permutations.
namespace davit::detail {

/// view(view(x)) -> view(x); view(permute(x)), view(cat(x)), view(slice(x)) and view(product) -> the same operator with
/// the result's sizes.
[[nodiscard]] bool make_reshape(Simplifier& s, const operators::SameElementsOperator& op, const Node& node,
                                ValueId out);
/// permute(permute(x)) -> permute(x); a permute that moves only dimensions of size 1 -> view(x).
[[nodiscard]] bool make_permute(Simplifier& s, const Node& node, ValueId out);
/// Emits a permute with the sizes of `meta`.
[[nodiscard]] ValueId emit_permute(Simplifier& s, const operators::PermutationView& permutation,
                                   const TensorMeta& meta);
/// slice(x) of the whole -> x; slice(flip(x)) of one row -> slice(x); flip(cat([a, b])) of parts of size 1 -> cat([b,
/// a]); cat([x]) -> x.
[[nodiscard]] std::span<const Rewrite> layout_rewrites() noexcept;

}  // namespace davit::detail
