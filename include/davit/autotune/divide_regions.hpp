// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/core/scalar_type.hpp"
#include "davit/lowering/quotient_graph.hpp"
#include "davit/lowering/value_sources.hpp"
#include "davit/lowering/value_users.hpp"

namespace davit {

/// How finely a program is divided.
struct RegionOptions {
  std::uint32_t regions = 12;  ///< approximate number of regions, in the part of the program that several backends take
  std::uint32_t longest = 16;  ///< maximum number of neighbouring regions that are considered as one partition
};

/// A program's nodes in an execution order, cut into runs: regions. Any neighbouring regions of one graph form a
/// partition without cycles, however the other regions are grouped.
struct Regions {
  std::vector<NodeId> order;
  std::vector<std::uint32_t> first;    ///< per region, and one more: start in `order`
  std::vector<std::uint64_t> support;  ///< per region: bit b is set if backend b takes all its nodes; 0: not delegated
  std::vector<GraphId> graph;          ///< per region

  [[nodiscard]] constexpr std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(support.size()); }
  [[nodiscard]] constexpr std::span<const NodeId> nodes(std::uint32_t from, std::uint32_t to) const noexcept {
    return std::span(order).subspan(first[from], first[to] - first[from]);
  }
};

namespace detail {

/// Divides a program. See divide_regions.
class RegionDivider {
 public:
  constexpr RegionDivider(const ProgramTables& program, std::span<const std::uint64_t> support, const ValueUsers& users,
                          RegionOptions options)
      : graph_(program.view()), sources_(value_sources(program)), support_(support), users_(users), options_(options) {}

  constexpr Regions run() {
    make_order();
    weigh();
    measure_cuts();
    out_.first.push_back(0);
    for (std::uint32_t at = 0; at < out_.order.size();) {
      std::uint32_t end = at + 1;
      while (end < out_.order.size() && same_run(at, end)) ++end;
      divide(at, end);
      at = end;
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] constexpr NodeId node(std::uint32_t position) const { return out_.order[position]; }
  [[nodiscard]] constexpr bool same_run(std::uint32_t a, std::uint32_t b) const {
    return support_[node(a)] == support_[node(b)] && graph_.nodes[node(a)].graph == graph_.nodes[node(b)].graph;
  }

  /// Finds an execution order that prefers ready nodes of equal support; otherwise it follows the program's order.
  constexpr void make_order() {
    std::vector<std::uint64_t> classes(support_.begin(), support_.end());
    std::ranges::sort(classes);
    classes.erase(std::ranges::unique(classes).begin(), classes.end());
    const auto class_of = [&](NodeId n) {
      return static_cast<std::size_t>(std::ranges::lower_bound(classes, support_[n]) - classes.begin());
    };
    std::vector<std::uint32_t> needs(graph_.nodes.size(), 0);
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) for_each_producer(graph_, n, [&](NodeId) { ++needs[n]; });
    std::vector<std::vector<NodeId>> ready(classes.size());  // min-heaps
    const auto push = [&](NodeId n) {
      std::vector<NodeId>& heap = ready[class_of(n)];
      heap.push_back(n);
      std::ranges::push_heap(heap, std::greater<>());
    };
    for (const Graph& each : graph_.graphs) {
      for (NodeId n = each.nodes.first; n < each.nodes.first + each.nodes.count; ++n)
        if (needs[n] == 0) push(n);
      for (std::size_t current = lowest(ready); current < ready.size();) {
        std::ranges::pop_heap(ready[current], std::greater<>());
        const NodeId n = ready[current].back();
        ready[current].pop_back();
        out_.order.push_back(n);
        for (const Argument& output : graph_.outputs(graph_.nodes[n]))
          graph_.for_each_value(output, [&](ValueId v) {
            for (const NodeId user : users_.of(v))
              if (--needs[user] == 0) push(user);
          });
        if (ready[current].empty()) current = lowest(ready);
      }
    }
  }
  /// Returns the heap with the lowest node; ready.size() if all are empty.
  [[nodiscard]] static constexpr std::size_t lowest(std::span<const std::vector<NodeId>> ready) {
    std::size_t best = ready.size();
    for (std::size_t c = 0; c < ready.size(); ++c)
      if (!ready[c].empty() && (best == ready.size() || ready[c].front() < ready[best].front())) best = c;
    return best;
  }

  static constexpr std::uint64_t most = std::uint64_t{1} << 40;  ///< per node or value: sums do not overflow
  [[nodiscard]] static constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    return b != 0 && a > most / b ? most : a * b;
  }
  [[nodiscard]] constexpr std::uint64_t elements(ValueId v) const {
    std::uint64_t count = 1;
    for (const Dim& dim : graph_.dims_of(graph_.values[v].sizes))
      count = times(count, static_cast<std::uint64_t>(std::max<std::int64_t>(dim.value, 0)));
    return count;
  }
  /// Estimates the work of each node, only to place cuts evenly: multiplications if weights meet other values, else
  /// elements.
  constexpr void weigh() {
    std::vector<std::uint8_t> is_weight(graph_.values.size(), 0);  // constants, and values computed from constants only
    for (ValueId v = 0; v < is_weight.size(); ++v) is_weight[v] = sources_[v] == ValueSource::constant ? 1 : 0;
    work_.push_back(0);
    reads_weights_.assign(out_.order.size(), 0);
    for (std::uint32_t p = 0; p < out_.order.size(); ++p) {
      std::uint64_t made = 0, read = 0, products = 0;
      bool mixes = false;
      for (const Argument& output : graph_.outputs(graph_.nodes[node(p)]))
        graph_.for_each_value(output, [&](ValueId v) { made = std::max(made, elements(v)); });
      for (const Argument& input : graph_.inputs(graph_.nodes[node(p)]))
        graph_.for_each_value(input, [&](ValueId v) {
          const Range sizes = graph_.values[v].sizes;
          read = std::min(read + elements(v), most);
          mixes = mixes || is_weight[v] == 0;
          if (is_weight[v] == 0 || sizes.count < 2) return;
          reads_weights_[p] = 1;
          const std::int64_t rows = std::max<std::int64_t>(graph_.dims_of(sizes)[0].value, 1);
          products = std::max(products, times(made, elements(v) / static_cast<std::uint64_t>(rows)));
        });
      const std::uint64_t own = std::max(made + read, mixes ? products : 0);
      work_.push_back(work_.back() + (support_[node(p)] == 0 ? 0 : own));
      if (mixes) continue;
      for (const Argument& output : graph_.outputs(graph_.nodes[node(p)]))
        graph_.for_each_value(output, [&](ValueId v) { is_weight[v] = 1; });
    }
  }
  /// Counts the values and bytes that cross a cut before each position.
  constexpr void measure_cuts() {
    std::vector<std::uint32_t> position(graph_.nodes.size(), 0);
    for (std::uint32_t p = 0; p < out_.order.size(); ++p) position[node(p)] = p;
    std::vector<std::int64_t> values(out_.order.size() + 2, 0);
    std::vector<std::uint64_t> bytes(out_.order.size() + 2, 0);  // differences, modulo 2^64
    for (ValueId v = 0; v < graph_.values.size(); ++v) {
      if (graph_.values[v].producer == no_id) continue;
      std::uint32_t last = position[graph_.values[v].producer];
      const std::uint32_t made = last;
      for (const NodeId user : users_.of(v)) last = std::max(last, position[user]);
      const std::uint64_t size = elements(v) * size_of(graph_.values[v].dtype);
      ++values[made + 1];
      --values[last + 1];
      bytes[made + 1] += size;
      bytes[last + 1] -= size;
    }
    cut_values_.assign(out_.order.size() + 1, 0);
    cut_bytes_.assign(out_.order.size() + 1, 0);
    std::int64_t open = 0;
    std::uint64_t open_bytes = 0;
    for (std::size_t p = 0; p < cut_values_.size(); ++p) {
      cut_values_[p] = open += values[p];
      cut_bytes_[p] = open_bytes += bytes[p];
    }
  }

  /// Cuts a run of equal support: evenly by work, at points where few values cross, and before nodes that read weights.
  constexpr void divide(std::uint32_t begin, std::uint32_t end) {
    const std::uint64_t work = work_[end] - work_[begin];
    std::uint32_t parts = 1;
    if (std::popcount(support_[node(begin)]) > 1) parts = share(work);
    parts = std::clamp<std::uint32_t>(parts, 1, end - begin);
    std::uint32_t last = begin;
    for (std::uint32_t i = 1; i < parts; ++i) {
      const std::uint64_t target = work_[begin] + work / parts * i;
      const std::uint64_t half = work / parts / 2;
      std::uint32_t best = end;
      for (std::uint32_t p = first_at(target - half, begin, end); p < end && work_[p] < target + half; ++p)
        if (p > last && (best == end || score(p, target) < score(best, target))) best = p;
      if (best < end) add_region(last = best, begin);
    }
    add_region(end, begin);
  }
  /// Returns a run's share of the regions, proportional to its work and rounded.
  [[nodiscard]] constexpr std::uint32_t share(std::uint64_t work) const {
    const int shift = std::max(0, static_cast<int>(std::bit_width(work_.back())) - 30);
    const std::uint64_t whole = work_.back() >> shift;
    return whole == 0 ? 1 : static_cast<std::uint32_t>(((work >> shift) * options_.regions + whole / 2) / whole);
  }
  [[nodiscard]] constexpr std::uint32_t first_at(std::uint64_t work, std::uint32_t begin, std::uint32_t end) const {
    return static_cast<std::uint32_t>(std::lower_bound(work_.begin() + begin, work_.begin() + end, work) -
                                      work_.begin());
  }
  [[nodiscard]] constexpr std::tuple<std::int64_t, bool, std::uint64_t, std::uint64_t> score(
      std::uint32_t p, std::uint64_t target) const {
    const std::uint64_t distance = work_[p] < target ? target - work_[p] : work_[p] - target;
    return {cut_values_[p], reads_weights_[p] == 0, cut_bytes_[p], distance};
  }
  constexpr void add_region(std::uint32_t end, std::uint32_t any) {
    out_.first.push_back(end);
    out_.support.push_back(support_[node(any)]);
    out_.graph.push_back(graph_.nodes[node(any)].graph);
  }

  GraphModuleView graph_;
  std::vector<ValueSource> sources_;
  std::span<const std::uint64_t> support_;
  const ValueUsers& users_;
  RegionOptions options_;
  Regions out_;
  std::vector<std::uint64_t> work_;  ///< sum over all nodes before each position
  std::vector<std::uint8_t> reads_weights_;
  std::vector<std::int64_t> cut_values_;
  std::vector<std::uint64_t> cut_bytes_;
};

}  // namespace detail

/// Divides a program into regions: runs of nodes that the same backends take. Large runs are divided where few values
/// cross the cut.
///
/// `support` holds one bit per backend for each node; 0 for a node that is not delegated, such as control flow.
/// Deterministic, O(nodes log nodes + edges).
[[nodiscard]] constexpr Regions divide_regions(const ProgramTables& program, std::span<const std::uint64_t> support,
                                               const ValueUsers& users, RegionOptions options = {}) {
  return detail::RegionDivider(program, support, users, options).run();
}

}  // namespace davit
