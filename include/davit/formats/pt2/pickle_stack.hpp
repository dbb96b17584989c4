// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/formats/pt2/pickle_stream.hpp"
#include "davit/formats/pt2/pickle_values.hpp"

namespace davit::formats::detail {

/// State of the pickle machine: all values, a stack of them with marks, and the memo.
///
/// Functions return false on failure; the stream then holds the reason.
class PickleStack {
 public:
  static constexpr PickleId none_id = 0, false_id = 1, true_id = 2, empty_tuple_id = 3;

  PickleStack(PickleStream& in, std::size_t max_values) : in_(in), max_values_(max_values) {
    values_.resize(4);  // None, False, True and () exist once
    values_[true_id].kind = values_[false_id].kind = PickleKind::boolean;
    values_[true_id].number = 1;
    values_[empty_tuple_id].kind = PickleKind::tuple;
  }

  [[nodiscard]] PickleValue& value(PickleId id) noexcept { return values_[id]; }
  [[nodiscard]] PickleId top() const noexcept { return stack_.back(); }
  [[nodiscard]] std::size_t size() const noexcept { return stack_.size(); }
  [[nodiscard]] PickleId operator[](std::size_t i) const noexcept { return stack_[i]; }
  [[nodiscard]] std::vector<PickleValue> take_values() && { return std::move(values_); }

  /// Returns the stack index above the last mark.
  [[nodiscard]] std::size_t floor() const noexcept { return marks_.empty() ? 0 : marks_.back(); }
  bool push(PickleId id) {
    stack_.push_back(id);
    return true;
  }
  bool push_new(PickleValue value) {
    if (values_.size() >= max_values_) return in_.fail("the pickle holds too many values");
    value.offset = in_.op_offset();
    values_.push_back(std::move(value));
    return push(static_cast<PickleId>(values_.size() - 1));
  }
  bool has(std::size_t count) {
    return stack_.size() - floor() >= count || in_.fail("the pickle takes more from its stack than it put there");
  }
  PickleId pop() {
    const PickleId id = stack_.back();
    stack_.pop_back();
    return id;
  }
  /// Pops the last mark and returns the stack index above it.
  bool pop_mark(std::size_t& first) {
    if (marks_.empty()) return in_.fail("the pickle takes a mark that it did not put there");
    first = marks_.back();
    marks_.pop_back();
    return true;
  }
  bool mark() {
    marks_.push_back(stack_.size());
    return true;
  }
  /// Moves the values from `first` on from the stack to the end of `items`.
  void move_to(std::vector<PickleId>& items, std::size_t first) {
    items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
  }
  /// Stores the top value as memo entry `entry`.
  bool memoize(std::uint64_t entry) {
    if (!has(1)) return false;
    if (entry >= in_.bytes().size()) return in_.fail("memo entry ", entry, " is more than the pickle can have");
    const auto index = static_cast<std::size_t>(entry);
    if (index >= memo_.size()) memo_.resize(index + 1, no_pickle_id);
    memo_[index] = stack_.back();
    PickleValue& value = values_[stack_.back()];
    if (value.state_begin == in_.op_offset()) value.state_begin = in_.at();
    return true;
  }
  [[nodiscard]] std::size_t memo_size() const noexcept { return memo_.size(); }
  bool recall(std::uint64_t entry) {
    const auto index = static_cast<std::size_t>(entry);
    if (entry >= memo_.size() || memo_[index] == no_pickle_id) return in_.fail("memo entry ", entry, " is not there");
    return push(memo_[index]);
  }

 private:
  PickleStream& in_;
  std::size_t max_values_;
  std::vector<PickleValue> values_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleId> memo_;
};

}  // namespace davit::formats::detail
