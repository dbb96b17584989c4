// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "davit/backend/embed_graph.hpp"
#include "davit/embed/number_partitions.hpp"

namespace davit::detail {

/// The backends and partitions of a planned program's nodes: see static_module.
template <class Planned>
struct StaticAssignment {
  static constexpr auto backend_of = [] {
    std::array<std::uint8_t, Planned::node_count> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = Planned::frozen.backend_of[i];
    return all;
  }();
  static constexpr auto partition_of = [] {
    std::array<std::uint32_t, Planned::node_count> all{};
    const std::vector<std::uint32_t> numbers = number_partitions(backend_of);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = numbers[i];
    return all;
  }();

 private:
  static constexpr std::vector<std::string_view> used_operators() {
    std::vector<std::string_view> names;
    for (NodeId n = 0; n < backend_of.size(); ++n)
      if (backend_of[n] != EmbedGraph::unassigned) names.push_back(Planned::graph.target(n));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

 public:
  static constexpr auto operators = [] {
    constexpr std::size_t count = used_operators().size();
    std::array<std::string_view, count> all{};
    const auto names = used_operators();
    for (std::size_t i = 0; i < count; ++i) all[i] = names[i];
    return all;
  }();
};

}  // namespace davit::detail
