// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "davit/core/config.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/program/graph.hpp"

namespace davit::detail {

/// The number of backends that may take a node whole.
[[nodiscard]] std::size_t taker_count(const DecomposeOptions& options) noexcept;
/// Returns the index, by preference, of the first backend that takes a node; taker_count if none does. O(backends).
[[nodiscard]] std::size_t first_taker(GraphModuleView graph, NodeId n, const DecomposeOptions& options);
/// True for a node that may be removed if its results are unused, or merged with an equal one.
[[nodiscard]] bool is_pure(GraphModuleView graph, const Node& node);

}  // namespace davit::detail
