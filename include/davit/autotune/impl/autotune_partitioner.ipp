// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/autotune/autotune_partitioner.hpp"

namespace davit::detail {

Result<std::vector<std::uint32_t>> autotune_order(BackendTables backends, std::vector<std::uint32_t> order) {
  if (order.empty())
    for (std::uint32_t b = 0; b < backends.size(); ++b) order.push_back(b);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] >= backends.size())
      return std::unexpected(no_such_backend(backends, "AutotuneOptions::order", order[i]));
    if (std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i), order[i]) !=
        order.begin() + static_cast<std::ptrdiff_t>(i))
      return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                   .stage = Stage::partition,
                                   .where = "AutotuneOptions::order",
                                   .what = concat("backend ", backends.name(order[i]), " is there twice"),
                                   .fix = "name each backend once"});
  }
  return order;
}

RegionChoice make_choice(BackendTables backends, const Method& method, const std::vector<std::uint32_t>& order,
                         RegionOptions options, std::vector<NodeRefusal>* refusals) {
  GraphModuleView graph = method.view();
  const std::vector<std::uint8_t> used = used_values(graph);
  graph.used = used.data();
  std::vector<std::uint64_t> support(graph.nodes.size(), 0);
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < order.size(); ++i) {
    names.push_back(backends.name(order[i]));
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      if (is_control_flow(graph, graph.nodes[n])) continue;
      const char* reason = backends.refuses(order[i], graph, n);
      if (reason == nullptr) support[n] |= std::uint64_t{1} << i;
      if (reason != nullptr && refusals != nullptr) refusals->push_back({n, order[i], reason});
    }
  }
  return RegionChoice(*method.program, std::move(support), std::move(names), options);
}

PartitionResult apply_plan(BackendTables backends, GraphModuleView graph, const RegionPlan& plan,
                           std::span<const std::uint32_t> order, bool fallbacks) {
  PartitionResult out(graph);
  std::vector<std::uint32_t> count(backends.size(), 0);
  for (const std::uint32_t at : plan.backend_of_group) {
    Delegation to{.backend = order[at]};
    if (fallbacks) to.fallbacks.assign(order.begin() + at + 1, order.end());
    out.add(concat(backends.name(order[at]), "_", count[order[at]]++), std::move(to));
  }
  out.tags.nodes = plan.group_of_node;
  return out;
}

Name describe_nodes(GraphModuleView graph, std::span<const NodeId> nodes) {
  if (nodes.empty()) return "no nodes";
  const std::string_view first = graph.target(graph.nodes[nodes.front()]);
  if (nodes.size() == 1) return Name::own(first);
  return concat(first, " ... ", graph.target(graph.nodes[nodes.back()]), ", ", nodes.size(), " nodes");
}

[[nodiscard]] Error missing_costs(const RegionChoice& choice, RegionCosts::Missing at, std::size_t count) {
  const std::vector<NodeId> nodes = choice.sorted(at.region, at.region + 1);
  Name more = count > 1 ? concat(" (and ", count - 1, " more)") : Name();
  return Error{.code = ErrorCode::not_found,
               .stage = Stage::partition,
               .where = concat("nodes '", node_label(choice.graph(), nodes.front()), "' to '",
                               node_label(choice.graph(), nodes.back()), "' (",
                               detail::describe_nodes(choice.graph(), nodes), ")"),
               .what = concat("the cost table lacks their costs on ", choice.backends()[at.backend], more),
               .fix = "measure this program with these backends: measure_costs, or davit's --save-costs"};
}
/// Lists the candidates: whole plans, then each chosen partition on every backend for which the table has its cost.
void report_candidates(const CostTable& table, const RegionChoice& choice, const PlanChoice& plans,
                       PartitionResult& out) {
  for (std::size_t i = 0; i < plans.candidates.size(); ++i) {
    const PlanCandidate& c = plans.candidates[i];
    out.candidates.push_back(
        {.what = "the program",
         .candidate = c.preferred == no_id ? Name("by region") : concat(choice.backends()[c.preferred], " first"),
         .partitions = c.plan.backend_of_group.size(),
         .ns = c.total != no_cost ? c.total : c.sum,
         .chosen = i == plans.chosen});
  }
  const PlanCandidate& chosen = plans.candidates[plans.chosen];
  for (std::size_t g = 0; g < chosen.keys.size(); ++g)
    for (std::size_t b = 0; b < choice.backends().size(); ++b) {
      const RegionCost* cost = table.find(chosen.keys[g], choice.backends()[b]);
      const bool own = b == chosen.plan.backend_of_group[g];
      if (cost == nullptr && !own) continue;
      out.candidates.push_back({.what = out.tags.names[g],
                                .candidate = Name::own(choice.backends()[b]),
                                .partitions = 1,
                                .ns = cost != nullptr && cost->outcome == CostOutcome::measured ? cost->ns : no_cost,
                                .chosen = own});
    }
}

Result<PartitionResult> choose_partitions(BackendTables backends, const CostTable& table,
                                          const AutotuneOptions& options, const Method& method) {
  const Result<std::vector<std::uint32_t>> order = autotune_order(backends, options.order);
  if (!order) return error_of(order);
  std::vector<NodeRefusal> refusals;
  const RegionChoice choice = make_choice(backends, method, *order, options.regions, &refusals);
  if (options.missing == MissingCosts::refuse && order->size() > 1) {
    const RegionCosts costs(choice, table);
    if (!costs.missing().empty())
      return std::unexpected(missing_costs(choice, costs.missing().front(), costs.missing().size()));
  }
  const PlanChoice plans = choose_plan(*method.program, choice, table);
  const PlanCandidate& chosen = plans.candidates[plans.chosen];
  PartitionResult out = apply_plan(backends, method.view(), chosen.plan, *order, options.fallbacks);
  out.refusals = std::move(refusals);
  report_candidates(table, choice, plans, out);
  return out;
}

}  // namespace davit::detail
