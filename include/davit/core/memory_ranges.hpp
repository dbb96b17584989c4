// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "davit/core/copy_tensor.hpp"

namespace davit {

/// A set of memory ranges, which may overlap each other. meet() tests whether a tensor overlaps one of them, by binary
/// search if many tests are expected. Allocates nothing within the reserved count.
class MemoryRanges {
 public:
  MemoryRanges() = default;
  explicit MemoryRanges(std::vector<MemoryRange> all) : all_(std::move(all)) { sort(); }

  void reserve(std::size_t count) { all_.reserve(count); }
  void clear() noexcept {
    all_.clear();
    sorted_ = false;
  }
  /// Adds a range; call before expect().
  void add(const MemoryRange& one) { all_.push_back(one); }
  /// Prepares for that many calls of meet(): sorts the ranges unless the calls are few. O(n log n).
  void expect(std::size_t questions) {
    if (questions > few && all_.size() > few) sort();
  }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

  /// True if a range of the set overlaps `t`. O(log n) after expect() with many calls, else O(n).
  [[nodiscard]] bool meet(const MemoryRange& t) const noexcept {
    if (!sorted_) return std::ranges::any_of(all_, [&](const MemoryRange& one) { return overlap(t, one); });
    const auto after = std::ranges::partition_point(all_, [&](const MemoryRange& one) { return one.begin < t.end; });
    return after != all_.begin() && t.begin < (after - 1)->end;
  }

 private:
  static constexpr std::size_t few = 8;
  /// Sorts by `begin`, then raises each `end` to the largest end so far.
  void sort() {
    if (sorted_) return;
    std::ranges::sort(all_, {}, &MemoryRange::begin);
    for (std::size_t i = 1; i < all_.size(); ++i) all_[i].end = std::max(all_[i].end, all_[i - 1].end);
    sorted_ = true;
  }
  std::vector<MemoryRange> all_;
  bool sorted_ = false;
};

}  // namespace davit
