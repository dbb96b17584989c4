// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "davit/core/config.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/graph.hpp"

namespace davit::detail {

/// How many backends may take a node whole.
[[nodiscard]] std::size_t taker_count(const DecomposeOptions& options) noexcept;
/// The position, by preference, of the first backend that takes a node; their number if none does. O(backends).
[[nodiscard]] std::size_t first_taker(GraphModuleView graph, NodeId n, const DecomposeOptions& options);
/// True for a node that may go if nothing needs its results, and stand for others that compute the same.
[[nodiscard]] bool is_pure(GraphModuleView graph, const Node& node);

}  // namespace davit::detail
