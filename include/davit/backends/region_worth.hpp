// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/operators/pooling.hpp"

namespace davit {

/// True for a convolution that is not transposed or a product of matrices, or an operator whose name, without namespace
/// and overload, is among `more`. A library of kernels gains nothing by a region without any: portable computes the
/// rest as fast, and each border has its price. O(1).
[[nodiscard]] inline bool is_worth_a_library(GraphModuleView graph, NodeId n,
                                             std::initializer_list<std::string_view> more = {}) noexcept {
  const std::string_view target = graph.target(graph.nodes[n]);
  if (!target.starts_with("aten.")) return false;
  const std::string_view name = target.substr(5, target.rfind('.') - 5);
  const auto is = [&](std::string_view one) { return name == one; };
  if (std::ranges::none_of(std::initializer_list<std::string_view>{"addmm", "bmm", "conv1d", "conv2d", "conv3d",
                                                                   "convolution", "linear", "matmul", "mm"},
                           is))
    return std::ranges::any_of(more, is);
  operators::ConvolutionView convolution;
  return operators::read_convolution(operators::NodeArguments(graph, n), convolution) || !convolution.transposed;
}

/// What a node's time goes into.
enum class WorkKind : std::uint8_t {
  other,
  convolution,
  convolution_of_few,  ///< channels a group
  convolution_to_few,  ///< filters a group
  depthwise_convolution,
  product,  ///< of matrices
  pooling,
};

/// A node's work: multiplications, of a pooling elements of its windows. Symbolic sizes count as their examples.
struct NodeWork {
  WorkKind kind = WorkKind::other;
  double amount = 0;
};

/// How many multiplications of a kind are done that much sooner by a library than by portable's kernels as one element
/// costs that enters or leaves a region; 0: as soon; negative: later. Measured, see benchmarks/operators.
struct LibraryRates {
  double convolution = 0;
  double convolution_of_few = 0;
  double convolution_to_few = 0;
  double depthwise_convolution = 0;
  double product = 0;
  double pooling = 0;
  bool copies_all =
      false;  ///< values have their price at the border of any region, not of convolutions and poolings alone

  [[nodiscard]] constexpr double of(WorkKind kind) const noexcept {
    switch (kind) {
      case WorkKind::other: return 0;
      case WorkKind::convolution: return convolution;
      case WorkKind::convolution_of_few: return convolution_of_few;
      case WorkKind::convolution_to_few: return convolution_to_few;
      case WorkKind::depthwise_convolution: return depthwise_convolution;
      case WorkKind::product: return product;
      case WorkKind::pooling: return pooling;
    }
    return 0;
  }
};

namespace detail {

[[nodiscard]] inline double element_count(GraphModuleView graph, ValueId v) noexcept {
  double count = 1;
  for (const Dim& dim : graph.dims_of(graph.values[v].sizes))
    count *= static_cast<double>(std::max<std::int64_t>(dim.value, 0));
  return count;
}

[[nodiscard]] inline double extent(GraphModuleView graph, ValueId v, std::size_t d) noexcept {
  const std::span<const Dim> dims = graph.dims_of(graph.values[v].sizes);
  return d < dims.size() ? static_cast<double>(std::max<std::int64_t>(dims[d].value, 0)) : 1;
}

}  // namespace detail

/// The work of a float32 node; `other` for other dtypes and operators. O(arguments).
[[nodiscard]] inline NodeWork work_of(GraphModuleView graph, NodeId n) noexcept {
  const operators::NodeArguments call(graph, n);
  const ValueId made = call.output();
  if (made == no_id || graph.values[made].dtype != ScalarType::float32) return {};
  const double results = detail::element_count(graph, made);
  operators::ConvolutionView convolution;
  if (!operators::read_convolution(call, convolution)) {
    if (convolution.transposed) return {};
    constexpr double few = 8;
    const double elements = detail::element_count(graph, convolution.weight);
    const double first = detail::extent(graph, convolution.weight, 0),
                 second = detail::extent(graph, convolution.weight, 1);
    const auto groups = static_cast<double>(convolution.groups);
    const double amount = results * elements / std::max(first, 1.0);
    if (convolution.groups > 1 && second == 1) return {WorkKind::depthwise_convolution, amount};
    return {first < few * groups ? WorkKind::convolution_to_few
            : second < few       ? WorkKind::convolution_of_few
                                 : WorkKind::convolution,
            amount};
  }
  operators::MatmulView product;
  if (!operators::read_matmul(call, product))
    return {WorkKind::product,
            results * detail::extent(graph, product.left, graph.values[product.left].sizes.count - 1)};
  operators::PoolView pool;
  if (operators::read_pool(call, pool)) return {};
  double window = 1;
  for (const std::int64_t size : pool.kernel) window *= static_cast<double>(size);
  return {WorkKind::pooling, results * window};
}

/// False if a library loses at the region's border what it gains inside, and more than a little (`noticed` elements).
/// Regions with work of other dtypes, or with quantized values, are not judged. `nodes` ascend. The view should know
/// uses and constants, as a partitioner's does: else what a node of the region uses does not leave it, and every input
/// of the graph enters it. O(n log n) in the region's arguments.
[[nodiscard]] inline bool pays_its_border(GraphModuleView graph, std::span<const NodeId> nodes,
                                          const LibraryRates& rates) {
  constexpr double noticed = 16384;
  double earned = 0;
  bool spreads = rates.copies_all;
  std::vector<ValueId> read;
  for (const NodeId n : nodes) {
    const NodeWork work = work_of(graph, n);
    if (work.kind == WorkKind::other &&
        (is_worth_a_library(graph, n) || graph.target(graph.nodes[n]).starts_with("quantized_decomposed.")))
      return true;
    spreads = spreads || (work.kind != WorkKind::other && work.kind != WorkKind::product);
    if (const double rate = rates.of(work.kind); rate != 0) earned += work.amount / rate;
    for (const Argument& a : graph.inputs(graph.nodes[n]))
      graph.for_each_value(a, [&](ValueId v) { read.push_back(v); });
  }
  if (!spreads) return true;
  std::ranges::sort(read);
  double border = 0;
  const auto pass = [&](ValueId v) {
    if (graph.values[v].kind == ValueKind::tensor && graph.values[v].sizes.count > 1)
      border += detail::element_count(graph, v);
  };
  for (auto at = read.begin(); at != read.end(); at = std::ranges::upper_bound(at, read.end(), *at)) {
    const NodeId maker = graph.values[*at].producer;
    if (maker == no_id ? graph.constant == nullptr || graph.constant[*at] == 0
                       : !std::ranges::binary_search(nodes, maker))
      pass(*at);
  }
  for (const NodeId n : nodes)
    for (const Argument& a : graph.outputs(graph.nodes[n]))
      graph.for_each_value(a, [&](ValueId v) {
        const auto uses = static_cast<std::size_t>(std::ranges::equal_range(read, v).size());
        if (graph.used == nullptr ? uses == 0 : graph.used[v] > uses) pass(v);
      });
  return earned + noticed >= border;
}

}  // namespace davit
