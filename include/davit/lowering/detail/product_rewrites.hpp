// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "davit/lowering/detail/simplifier.hpp"

/// Rewrites of products of any number of dimensions. They are code, not patterns, because they compute sizes and
/// permutations.
namespace davit::detail {

/// Replaces a node by the product of `a` and `b`: linear if `b` is a transposed matrix, an attention if `a` is its
/// softmax, else matmul. Returns false if the node is that operator already.
[[nodiscard]] bool make_matmul(Simplifier& s, const Node& node, ValueId a, ValueId b, ValueId out);
/// bmm(a, expand(w)) and matmul(a, expand(w)) -> make_matmul of a and w; sum(a * b, 1) -> mv(a, b); sum(a * b, 2) of
/// broadcast operands -> matmul(a, b).
[[nodiscard]] std::span<const Rewrite> product_rewrites() noexcept;

}  // namespace davit::detail
