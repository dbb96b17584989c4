// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/operators/pooling.hpp"
#include "davit/program/views.hpp"

namespace davit {

/// True for convolutions and matrix products.
[[nodiscard]] constexpr bool is_product(const OperatorFacts& facts) noexcept {
  return facts.range == RangeBound::dot_product || facts.range == RangeBound::convolution ||
         facts.range == RangeBound::linear || facts.range == RangeBound::bias_first;
}

/// True for a convolution that is not transposed, a matrix product, or an operator whose name, without namespace and
/// overload, is among `more`. A library gains nothing by a region without any: portable computes other operators as
/// fast, and each border has its price. O(1).
[[nodiscard]] inline bool is_worth_a_library(GraphModuleView graph, NodeId n,
                                             std::initializer_list<std::string_view> more = {}) noexcept {
  const std::string_view target = graph.target(graph.nodes[n]);
  if (!target.starts_with("aten.")) return false;
  const std::string_view name = target.substr(5, target.rfind('.') - 5);
  if (!is_product(facts_of(target))) return std::ranges::find(more, name) != more.end();
  operators::ConvolutionView convolution;
  return operators::read_convolution(operators::NodeArguments(graph, n), convolution) || !convolution.transposed;
}

/// The kinds of work with a rate of their own.
enum class WorkKind : std::uint8_t {
  other,
  convolution,
  convolution_of_few,  ///< few channels per group
  convolution_to_few,  ///< few filters per group
  depthwise_convolution,
  product,  ///< matrix product
  pooling,
};

/// The work of a node: multiplications, or, for a pooling, elements of its windows. Symbolic sizes count as their
/// examples.
struct NodeWork {
  WorkKind kind = WorkKind::other;
  double amount = 0;
};

/// Break-even points: multiplications per element crossing the border at which offloading a kind of work pays, as the
/// number that the library saves in the time of one crossing; 0: the library is as fast as portable; negative: slower.
/// Measured by benchmarks/operators.
struct LibraryRates {
  double convolution = 0;
  double convolution_of_few = 0;
  double convolution_to_few = 0;
  double depthwise_convolution = 0;
  double product = 0;
  double pooling = 0;
  bool copies_all =
      false;  ///< elements cross at a price at every region's border, not only at convolutions and poolings

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

namespace detail {

/// The values that nodes read, sorted, with one entry per use.
[[nodiscard]] inline std::vector<ValueId> values_read(GraphModuleView graph, std::span<const NodeId> nodes) {
  std::vector<ValueId> read;
  for (const NodeId n : nodes)
    for (const Argument& a : graph.inputs(graph.nodes[n]))
      graph.for_each_value(a, [&](ValueId v) { read.push_back(v); });
  std::ranges::sort(read);
  return read;
}

/// Elements of tensors of more than one dimension that enter or leave a region.
[[nodiscard]] inline double border_elements(GraphModuleView graph, std::span<const NodeId> nodes) {
  const std::vector<ValueId> read = values_read(graph, nodes);
  double border = 0;
  const auto pass = [&](ValueId v) {
    if (graph.values[v].kind == ValueKind::tensor && graph.values[v].sizes.count > 1) border += element_count(graph, v);
  };
  for (auto at = read.begin(); at != read.end(); at = std::ranges::upper_bound(at, read.end(), *at)) {
    const NodeId producer = graph.values[*at].producer;
    if (producer == no_id ? graph.constant == nullptr || graph.constant[*at] == 0
                          : !std::ranges::binary_search(nodes, producer))
      pass(*at);
  }
  for (const NodeId n : nodes)
    for (const Argument& a : graph.outputs(graph.nodes[n]))
      graph.for_each_value(a, [&](ValueId v) {
        const auto uses = static_cast<std::size_t>(std::ranges::equal_range(read, v).size());
        if (graph.used == nullptr ? uses == 0 : graph.used[v] > uses) pass(v);
      });
  return border;
}

}  // namespace detail

/// False if a library loses more at the region's border than it gains inside, by at least `noticed` elements. Regions
/// with work of other dtypes, or with quantized values, are not judged: true. `nodes` ascend. The view should know uses
/// and constants, as a partitioner's does: without uses no value that the region uses counts as leaving it, and without
/// constants every graph input counts as entering it. O(n log n) in the region's arguments.
[[nodiscard]] inline bool pays_its_border(GraphModuleView graph, std::span<const NodeId> nodes,
                                          const LibraryRates& rates) {
  constexpr double noticed = 16384;
  double earned = 0;
  bool spreads = rates.copies_all;
  for (const NodeId n : nodes) {
    const NodeWork work = work_of(graph, n);
    if (work.kind == WorkKind::other &&
        (is_worth_a_library(graph, n) || graph.target(graph.nodes[n]).starts_with("quantized_decomposed.")))
      return true;
    spreads = spreads || (work.kind != WorkKind::other && work.kind != WorkKind::product);
    if (const double rate = rates.of(work.kind); rate != 0) earned += work.amount / rate;
  }
  if (!spreads) return true;
  return earned + noticed >= detail::border_elements(graph, nodes);
}

/// The speed of a library for float32 on one thread, for estimated_ns. Rates are per nanosecond. Measured on chains of
/// two and of six equal layers, on an AMD EPYC with 512-bit vectors: the difference is the layers' time, the remainder
/// the border's; other CPUs change the rates of both libraries alike.
struct LibrarySpeed {
  double node_ns = 0;          ///< of one kernel call
  double multiplications = 1;  ///< of convolutions and products with full vectors of channels
  double winograd = 0;         ///< of 3 x 3 windows, from 16 channels to 32 or more; 0: as others
  double depthwise = 1;
  double transposed = 1;
  double few_filters = 0;          ///< of windows to fewer than 8 filters; 0: as a full vector of filters
  std::int64_t channel_block = 1;  ///< channels of an image are rounded up to a multiple
  std::int64_t filter_block = 1;   ///< filters are rounded up to a multiple
  double idle_rows = 0;            ///< a product of r rows, or pixels, takes the time of r + idle_rows
  double pooled = 1;               ///< elements of windows
  double averaged = 1;             ///< elements of a mean over images
  double element_ns = 0;           ///< per element of an elementwise result
  double strided_ns = 0;           ///< extra, per element of a part of a batch
  double split_ns = 0;             ///< extra, per element of some channels of an image
  double fused_ns = 0;             ///< per element, right behind a convolution or product
  double moved_ns = 0;             ///< per element of a slice, padding or copy
  double layout_ns = 0;            ///< per element of an image that views and copies reorder; 0: no reorder
  double batch_layout_ns = 0;      ///< the same for a batch of several images
  double border_ns = 0;            ///< per element of an image that crosses the region's border
};

namespace detail {

/// Rounds `count` up to a multiple of `block`.
[[nodiscard]] inline double filled(double count, std::int64_t block) noexcept {
  return std::ceil(count / static_cast<double>(block)) * static_cast<double>(block);
}

[[nodiscard]] inline double convolution_ns(GraphModuleView graph, const operators::ConvolutionView& view, ValueId made,
                                           const LibrarySpeed& speed) noexcept {
  const double first = extent(graph, view.weight, 0), second = extent(graph, view.weight, 1);
  const auto groups = static_cast<double>(view.groups);
  const double window = element_count(graph, view.weight) / std::max(first * second, 1.0);
  if (view.transposed) return element_count(graph, view.input) * second * window / speed.transposed;
  const double amount = element_count(graph, made) * second * window;
  if (view.groups > 1 && second == 1) return amount / speed.depthwise;
  if (view.groups > 1) return amount / speed.multiplications * (1 + 4 / std::max(second, 1.0));
  if (speed.few_filters > 0 && first < 8 && window > 1) return amount / speed.few_filters;
  const double pixels = element_count(graph, made) / std::max(first, 1.0);
  const std::size_t rank = graph.values[made].sizes.count;
  const bool tiles = speed.winograd > 0 && view.dims == 2 && view.kernel[1] == 3 && view.kernel[2] == 3 &&
                     view.stride[1] == 1 && view.stride[2] == 1 && view.dilation[1] == 1 && view.dilation[2] == 1 &&
                     second >= 16 && first >= 32 && extent(graph, made, rank - 1) * extent(graph, made, rank - 2) > 64;
  const double wasted = (second > 3 ? filled(second, speed.channel_block) / second : 1) *
                        (filled(first, speed.filter_block) / std::max(first / groups, 1.0));
  return amount * wasted / (tiles ? speed.winograd : speed.multiplications) *
         (1 + speed.idle_rows / std::max(pixels, 1.0));
}

/// True for means over whole images, and for adaptive poolings that equal one.
[[nodiscard]] inline bool is_average(std::string_view target) noexcept {
  return target.starts_with("aten.mean.") || target.starts_with("aten.adaptive_avg_pool") ||
         target.starts_with("aten._adaptive_avg_pool") || target.starts_with("aten.sum.");
}

/// Adds up the time of a region's nodes.
class CostEstimate {
 public:
  CostEstimate(GraphModuleView graph, std::span<const NodeId> nodes, const LibrarySpeed& speed)
      : graph_(graph), nodes_(nodes), speed_(speed), form_(nodes.size(), Form::rows) {}

  [[nodiscard]] double run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) ns_ += node_ns(i);
    // libraries keep rows of matrices in row-major order: at most a copy
    return ns_ + border_elements(graph_, nodes_) * speed_.border_ns * (images_ ? 1 : 1.0 / 3);
  }

 private:
  /// The layout of a node's results: rows, an image in the library's layout, either right behind a product, or some
  /// channels of an image.
  enum class Form : std::uint8_t { rows, image, product, image_product, split };
  [[nodiscard]] static bool is_image(Form f) noexcept { return f == Form::image || f == Form::image_product; }
  [[nodiscard]] static bool is_product(Form f) noexcept { return f == Form::product || f == Form::image_product; }

  [[nodiscard]] double node_ns(std::size_t i) {
    const NodeId n = nodes_[i];
    const operators::NodeArguments call(graph_, n);
    const std::string_view target = graph_.target(graph_.nodes[n]);
    const ValueId made = call.output();
    if (made == no_id || graph_.values[made].kind != ValueKind::tensor) return 0;
    const double results = element_count(graph_, made);
    operators::ConvolutionView convolution;
    if (!operators::read_convolution(call, convolution)) {
      images_ = true;
      form_[i] = Form::image_product;
      return speed_.node_ns + convolution_ns(graph_, convolution, made, speed_) + lay_out(convolution.input);
    }
    operators::MatmulView product;
    if (!operators::read_matmul(call, product)) {
      form_[i] = Form::product;
      const std::size_t rank = graph_.values[made].sizes.count;
      const double columns = rank == 0 ? 1 : extent(graph_, made, rank - 1);
      const double rows = std::max(product.transposed ? results / std::max(columns, 1.0)
                                   : rank < 2         ? 1
                                                      : extent(graph_, made, rank - 2),
                                   1.0);
      const double inner = extent(graph_, product.left, graph_.values[product.left].sizes.count - 1);
      return speed_.node_ns + results * inner / speed_.multiplications * (1 + speed_.idle_rows / rows);
    }
    Form input = Form::rows;
    bool split = false;
    ValueId source = no_id;
    for (const Argument& a : graph_.inputs(graph_.nodes[n]))
      graph_.for_each_value(a, [&](ValueId v) {
        if (source == no_id) source = v;
        const std::size_t at = index_of(graph_.values[v].producer);
        if (at == nodes_.size()) return;
        split = split || form_[at] == Form::split;
        if (is_image(form_[at]) || (!is_image(input) && is_product(form_[at]))) input = form_[at];
      });
    operators::PoolView pool;
    if (!operators::read_pool(call, pool)) {
      images_ = true;
      form_[i] = Form::image;
      double window = 1;
      for (const std::int64_t size : pool.kernel) window *= static_cast<double>(size);
      return speed_.node_ns + results * window / speed_.pooled;
    }
    if (is_average(target) && source != no_id) {
      form_[i] = is_image(input) ? Form::image : Form::rows;
      return speed_.node_ns + element_count(graph_, source) / speed_.averaged;
    }
    const bool joins = facts_of(target).shape == ShapeRule::concatenated;
    if (is_data_movement(target) && !joins) {
      if (is_image(input) && source != no_id && extent(graph_, made, 1) < extent(graph_, source, 1))
        form_[i] = Form::split;
      return results * speed_.moved_ns + (is_image(input) && source != no_id ? laid_out_ns(source) : 0);
    }
    if (joins) {
      form_[i] = is_image(input) ? Form::image : Form::rows;
      return speed_.node_ns + results * speed_.element_ns;
    }
    form_[i] = input;
    if (is_product(input)) return results * speed_.fused_ns;
    const bool strided = !is_image(input) && extent(graph_, made, 0) > 1 && is_part(source);
    return speed_.node_ns +
           results * (speed_.element_ns + (strided ? speed_.strided_ns : 0) + (split ? speed_.split_ns : 0));
  }

  /// The cost of reordering an image inside the region, for a view or copy or behind it.
  [[nodiscard]] double laid_out_ns(ValueId v) const {
    const double ns = extent(graph_, v, 0) > 1 ? speed_.batch_layout_ns : speed_.layout_ns;
    return ns == 0 ? 0 : speed_.node_ns + element_count(graph_, v) * ns;
  }
  /// The cost of reordering a convolution's operand; 0 if it has an image's layout or enters the region.
  [[nodiscard]] double lay_out(ValueId input) const {
    const std::size_t at = index_of(graph_.values[input].producer);
    return at == nodes_.size() || is_image(form_[at]) ? 0 : laid_out_ns(input);
  }
  /// True for a view that the region computes.
  [[nodiscard]] bool is_part(ValueId v) const noexcept {
    const std::size_t at = v == no_id ? nodes_.size() : index_of(graph_.values[v].producer);
    return at != nodes_.size() && is_data_movement(graph_.target(graph_.nodes[nodes_[at]]));
  }
  /// The index of a node in the region; the number of nodes if it is outside. O(log n).
  [[nodiscard]] std::size_t index_of(NodeId producer) const noexcept {
    const auto at = producer == no_id ? nodes_.end() : std::ranges::lower_bound(nodes_, producer);
    return at == nodes_.end() || *at != producer ? nodes_.size() : static_cast<std::size_t>(at - nodes_.begin());
  }

  GraphModuleView graph_;
  std::span<const NodeId> nodes_;
  const LibrarySpeed& speed_;
  std::vector<Form> form_;
  double ns_ = 0;
  bool images_ = false;
};

}  // namespace detail

/// Estimates the offload cost of a region (EstimatesOffloadCost): nanoseconds of a run in a library, with the crossings
/// of its border. It serves to choose between libraries: operators that all libraries compute at one rate get a guess.
/// Symbolic sizes count as their examples. `nodes` ascend; the view should know uses and constants. O(n log n) in the
/// region's arguments.
[[nodiscard]] inline double estimated_ns(GraphModuleView graph, std::span<const NodeId> nodes,
                                         const LibrarySpeed& speed) {
  return detail::CostEstimate(graph, nodes, speed).run();
}

}  // namespace davit
