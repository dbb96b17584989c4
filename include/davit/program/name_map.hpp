// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/name.hpp"

namespace davit {

/// A key and its value in a NameMap.
struct NamePair {
  Name key;
  Name value;
  friend constexpr bool operator==(const NamePair&, const NamePair&) = default;
};

/// A mapping of names in a fixed order. The last value of a repeated key counts.
using NameMap = std::vector<NamePair>;

/// Index of a list of names with O(log size) lookups; views the names, which must outlive it. Construction: O(n log n).
class NameIndex {
 public:
  constexpr NameIndex() = default;
  /// Indexes `name_of(element)` of each element of the range `list`.
  template <class List, class NameOf>
  constexpr NameIndex(const List& list, NameOf name_of) {
    std::size_t position = 0;
    for (const auto& element : list) entries_.push_back({std::string_view(name_of(element)), position++});
    std::sort(entries_.begin(), entries_.end());
  }
  template <std::same_as<Name> N>
  constexpr explicit NameIndex(const std::vector<N>& names) : NameIndex(names, [](const N& n) { return n.view(); }) {}
  template <std::same_as<NamePair> Pair>
  constexpr explicit NameIndex(const std::vector<Pair>& map)
      : NameIndex(map, [](const Pair& p) { return p.key.view(); }) {}

  static constexpr std::size_t not_found = static_cast<std::size_t>(-1);

  template <class = void>
  [[nodiscard]] constexpr bool contains(std::string_view name) const noexcept {
    return last(name) != not_found;
  }
  /// Returns the first position of the name, or not_found.
  template <class = void>
  [[nodiscard]] constexpr std::size_t first(std::string_view name) const noexcept {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), Entry{name, 0});
    return at != entries_.end() && at->first == name ? at->second : not_found;
  }
  /// Returns the last position of the name, or not_found.
  template <class = void>
  [[nodiscard]] constexpr std::size_t last(std::string_view name) const noexcept {
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), Entry{name, not_found});
    if (after == entries_.begin()) return not_found;
    const Entry& entry = *(after - 1);
    return entry.first == name ? entry.second : not_found;
  }
  /// Returns the number of distinct names.
  template <class = void>
  [[nodiscard]] constexpr std::size_t distinct() const noexcept {
    std::size_t count = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) count += i == 0 || entries_[i - 1].first != entries_[i].first;
    return count;
  }

 private:
  using Entry = std::pair<std::string_view, std::size_t>;
  std::vector<Entry> entries_;
};

/// Removes repeated keys as a Python dict does: a repeated key keeps its first position and takes its last value. O(n
/// log n).
template <class = void>
[[nodiscard]] constexpr NameMap as_dict(const NameMap& pairs) {
  const NameIndex index(pairs);
  NameMap dict;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (index.first(pairs[i].key) == i) dict.push_back({pairs[i].key, pairs[index.last(pairs[i].key)].value});
  }
  return dict;
}

}  // namespace davit
