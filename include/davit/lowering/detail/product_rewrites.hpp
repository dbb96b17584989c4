// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "davit/lowering/detail/simplifier.hpp"

/// Rewrites of products of any number of dimensions. Patterns do not say them: they compute sizes, and orders of
/// dimensions.
namespace davit::detail {

/// A product of `a` and `b` in place of a node: linear where `b` is a transposed matrix, the last product of an
/// attention, else matmul, unless the node is that.
[[nodiscard]] bool make_matmul(Simplifier& s, const Node& node, ValueId a, ValueId b, ValueId out);
/// The same of the operands of bmm and matmul, where one matrix that is expanded for a batch is taken once; sum(a * b,
/// 1)
/// -> mv(a, b); of products that are broadcast, sum(a * b, 2) -> matmul(a, b).
[[nodiscard]] std::span<const Rewrite> product_rewrites() noexcept;

}  // namespace davit::detail
