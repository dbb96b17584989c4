// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/lowering/detail/takers.hpp"
#include "davit/ops/facts.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

std::size_t taker_count(const DecomposeOptions& options) noexcept {
  return options.order.empty() ? options.backends.size() : options.order.size();
}
std::size_t first_taker(GraphModuleView graph, NodeId n, const DecomposeOptions& options) {
  const std::size_t count = taker_count(options);
  const auto refuses = [&](std::size_t at) {
    const std::size_t backend = options.order.empty() ? at : options.order[at];
    return backend >= options.backends.size() || options.backends.refuses(backend, graph, n) != nullptr;
  };
  std::size_t taker = 0;
  while (taker < count && refuses(taker)) ++taker;
  return taker;
}
bool is_pure(GraphModuleView graph, const Node& node) {
  const std::string_view target = graph.target(node);
  return (target.starts_with("aten.") || target.starts_with("_operator.") || facts_of(target).pure) &&
         node.outputs.count != 0 && !writes_arguments(graph, operator_call(graph, node)) && !is_random(target);
}

}  // namespace davit::detail
